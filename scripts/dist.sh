#!/usr/bin/env bash
# Builds what is handed to others, into dist/: the static binary, an archive of it with manual pages, completions and
# documents, a Debian package of the same, what it is made of (CycloneDX), and SHA256SUMS over all. The binary runs on any
# Linux from 5.11 on, without a checkout and without a C library.
#
# The same commit makes the same bytes, wherever it lies and whenever it is built: paths are mapped, files are as old as the
# commit. scripts/dist-again.sh tries that.
#   scripts/dist.sh            for this machine
#   scripts/dist.sh aarch64    for another one; ends with 3 where its compiler is missing
set -euo pipefail
cd "$(dirname "$0")/.."

# More than that is a mistake: something was put inside, or left unstripped.
binary_bytes_max=33554432
machine="${1:-$(uname -m)}"
triple="$machine-unknown-linux-gnu"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)"
name="proofload-$version-$machine-linux"
out="${DIST:-dist}"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}"

if [ "$machine" != "$(uname -m)" ]; then
    cc="$machine-linux-gnu-gcc"
    command -v "$cc" >/dev/null || { echo "dist: $cc is missing; on Debian: apt-get install gcc-$machine-linux-gnu" >&2; exit 3; }
    [ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || { echo "dist: no Rust for $triple; rustup target add $triple" >&2; exit 3; }
    upper="$(tr 'a-z-' 'A-Z_' <<<"$triple")"
    export "CARGO_TARGET_${upper}_LINKER=$cc" "CC_${triple//-/_}=$cc"
fi

# No path of this machine is part of it.
cargo_home="${CARGO_HOME:-$HOME/.cargo}"
export CFLAGS="-ffile-prefix-map=$PWD=. -ffile-prefix-map=$cargo_home=cargo ${CFLAGS:-}"
export CARGO_INCREMENTAL=0
# The target is named so that what runs while it is built, such as macros, is not linked so.
RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=$PWD=. --remap-path-prefix=$cargo_home=cargo ${RUSTFLAGS:-}" \
    cargo build --profile dist --locked --package proofload --target "$triple"
built="${CARGO_TARGET_DIR:-target}/$triple/dist/proofload"
size="$(stat --format=%s "$built")"
[ "$size" -le "$binary_bytes_max" ] || { echo "dist: the binary has $size bytes, and at most $binary_bytes_max are meant" >&2; exit 1; }

rm -rf "${out:?}/$name" "$out/deb-$machine"
root="$out/$name"
mkdir -p "$root/completions" "$root/man" "$root/docs"
install -m 755 "$built" "$root/proofload"
# What it writes of itself is the same on every machine; that of another one can't be run here.
runs="$built"
[ "$machine" = "$(uname -m)" ] || runs="${NATIVE:-${CARGO_TARGET_DIR:-target}/$(uname -m)-unknown-linux-gnu/dist/proofload}"
[ -x "$runs" ] || { echo "dist: build for this machine first: scripts/dist.sh" >&2; exit 1; }
"$runs" completions bash >"$root/completions/proofload"
"$runs" completions zsh >"$root/completions/_proofload"
"$runs" completions fish >"$root/completions/proofload.fish"
"$runs" man "$root/man"
install -m 644 LICENSE README.md README.zh-CN.md CHANGELOG.md "$root/"
install -m 644 docs/*.md docs/report.schema.json "$root/docs/"
cp -r docs/ci "$root/docs/ci"
cargo xtask sbom "$triple" >"$out/$name.cdx.json"
install -m 755 "$built" "$out/proofload-$machine"

# In order, of nobody, and as old as the commit.
tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s --directory "$out" "$name" |
    gzip --no-name --best >"$out/$name.tar.gz"

case "$machine" in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; *) debian="$machine" ;; esac
package="proofload_${version}_$debian.deb"
if command -v dpkg-deb >/dev/null; then
    deb="$out/deb-$machine"
    share="$deb/usr/share"
    mkdir -p "$deb/DEBIAN" "$deb/usr/bin" "$share/man/man1" "$share/doc/proofload" "$share/bash-completion/completions" \
        "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
    install -m 755 "$root/proofload" "$deb/usr/bin/proofload"
    install -m 644 "$root"/man/*.1 "$share/man/man1/"
    gzip --no-name --best "$share"/man/man1/*.1
    install -m 644 "$root/completions/proofload" "$share/bash-completion/completions/proofload"
    install -m 644 "$root/completions/_proofload" "$share/zsh/vendor-completions/_proofload"
    install -m 644 "$root/completions/proofload.fish" "$share/fish/vendor_completions.d/proofload.fish"
    cp -r "$root"/docs/. "$root"/*.md "$share/doc/proofload/"
    install -m 644 LICENSE "$share/doc/proofload/copyright"
    # A failure within the text below would end nothing.
    installed_kib="$(du --summarize --block-size=1K --apparent-size "$deb/usr" | cut -f1)"
    cat >"$deb/DEBIAN/control" <<CONTROL
Package: proofload
Version: $version
Architecture: $debian
Maintainer: The Proofload maintainers <maintainers@proofload.invalid>
Installed-Size: $installed_kib
Recommends: git, ca-certificates
Section: web
Priority: optional
Description: load generator and laboratory for HTTP servers
 Boots HTTP servers, loads them honestly, ranks them, and says where the
 numbers came from. Gates for pipelines, two versions of one service side by
 side, drop-ins for other tools' command lines.
CONTROL
    chmod -R go=rX,u+rw "$deb"
    dpkg-deb --root-owner-group -Zgzip --build "$deb" "$out/$package" >/dev/null
    rm -rf "$deb"
else
    echo "dist: no Debian package: dpkg-deb is missing" >&2
fi
rm -rf "${out:?}/$name"
# Where dpkg-deb is missing there may be no package.
(cd "$out" && shopt -s nullglob && sha256sum -- proofload-*.tar.gz proofload-*.cdx.json proofload_*.deb "proofload-$machine" | sort --unique --key=2 >SHA256SUMS)
echo "$out/$name.tar.gz ($size bytes of binary)"
