#!/usr/bin/env bash
# Builds what is handed to others: one static binary with completions, manual pages and documents, and its checksum. The
# binary runs on any Linux from 5.11 on, without a checkout and without a C library.
#   scripts/dist.sh         into dist/
set -euo pipefail
cd "$(dirname "$0")/.."

machine="$(uname -m)"
triple="$machine-unknown-linux-gnu"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)"
name="proofload-$version-$machine-linux"
out="${DIST:-dist}"

# The target is named so that what runs while it is built, such as macros, is not linked so.
RUSTFLAGS="-C target-feature=+crt-static ${RUSTFLAGS:-}" \
    cargo build --release --locked --package proofload --target "$triple"
binary="${CARGO_TARGET_DIR:-target}/$triple/release/proofload"

rm -rf "${out:?}/$name"
mkdir -p "$out/$name/completions" "$out/$name/man" "$out/$name/docs"
install -m 755 "$binary" "$out/$name/proofload"
strip --strip-debug "$out/$name/proofload"
"$binary" completions bash >"$out/$name/completions/proofload"
"$binary" completions zsh >"$out/$name/completions/_proofload"
"$binary" completions fish >"$out/$name/completions/proofload.fish"
"$binary" man "$out/$name/man"
install -m 644 LICENSE README.md README.zh-CN.md CHANGELOG.md "$out/$name/"
install -m 644 docs/*.md docs/report.schema.json "$out/$name/docs/"

# The same bytes of the same files: in order, of nobody, and as old as the commit.
when="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
tar --create --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner --directory "$out" "$name" |
    gzip --no-name --best >"$out/$name.tar.gz"
rm -rf "${out:?}/$name"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS)
echo "$out/$name.tar.gz"
