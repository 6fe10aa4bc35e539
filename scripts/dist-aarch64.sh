#!/usr/bin/env bash
# What scripts/dist.sh makes, for 64-bit ARM, on a machine that has neither a Rust for it nor such a core: built in a Debian root of
# its own, whose Rust has ARM's standard library, and tried there under QEMU, which has no io_uring: loads go over epoll.
# scripts/dist.sh comes first: manual pages and completions are written by the binary that runs here.
#   scripts/dist-aarch64.sh [ROOT]    ROOT: where the Debian root is kept [default: TARGET_DIR/aarch64-root]
# Exit code: 3 where a tool is missing, or root.
set -euo pipefail
cd "$(dirname "$0")/.."

cannot=3
out="${DIST:-dist}"
target_dir="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
root="$(realpath -m "${1:-$target_dir/aarch64-root}")"
native="$(realpath -m "${NATIVE:-$target_dir/$(uname -m)-unknown-linux-gnu/dist/proofload}")"
cargo_home="${CARGO_HOME:-$HOME/.cargo}"
for tool in debootstrap unshare; do
    command -v "$tool" >/dev/null || { echo "dist-aarch64: $tool is missing: apt-get install debootstrap util-linux" >&2; exit $cannot; }
done
[ "$(id -u)" -eq 0 ] || { echo "dist-aarch64: only root may make a root of its own" >&2; exit $cannot; }
[ -x "$native" ] || { echo "dist-aarch64: build for this machine first: scripts/dist.sh" >&2; exit 1; }
# The crates, which the other cargo takes from here.
cargo fetch --locked --quiet

# It is there whole or not at all. Debian's stable release has too old a Rust, and a QEMU that does not know what is waited with.
if [ ! -d "$root" ]; then
    echo "dist-aarch64: making a Debian root (some two minutes)"
    mkdir -p "$(dirname "$root")"
    rm -rf "$root.new"
    debootstrap --variant=minbase \
        --include=ca-certificates,cargo,rustc,gcc,libc6-dev,gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,make,cmake,git,qemu-user sid "$root.new" >"$target_dir/aarch64-root.log"
    chroot "$root.new" dpkg --add-architecture arm64
    # A mirror may be of an earlier day; its lists are signed all the same.
    for what in update "install --yes --no-install-recommends libstd-rust-dev:arm64"; do
        # shellcheck disable=SC2086 # Each is several words.
        chroot "$root.new" apt-get --quiet -o Acquire::Check-Valid-Until=false $what >>"$target_dir/aarch64-root.log"
    done
    mv -T "$root.new" "$root"
fi
install -m 755 "$native" "$root/native"
mkdir -p "$root/checkout" "$root/cargo" "$out" "$target_dir/aarch64"

# The mounts go with the namespace.
inside="$(cat <<'INSIDE'
mount --bind "$2" "$1/checkout"
mount --bind "$3" "$1/cargo"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" env -i HOME=/root PATH=/usr/bin:/bin CARGO_HOME=/cargo CARGO_NET_OFFLINE=true NATIVE=/native DIST="$4" \
    CARGO_TARGET_DIR=/checkout/target/aarch64 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/checkout \
    sh -c 'cd /checkout && exec scripts/dist.sh aarch64'
INSIDE
)"
unshare --mount sh -euc "$inside" sh "$root" "$PWD" "$cargo_home" "$out"

# What it is for, by an ARM of QEMU's: a load with a gate, a script, a report.
install -m 755 "$out/proofload-aarch64" "$root/arm"
rm -rf "$root/trial"
mkdir "$root/trial"
cp -r docs/samples/records/quick "$root/trial/run"
printf 'request = function() return wrk.format("GET", "/hello") end\n' >"$root/trial/script.lua"
arm() { chroot "$root" qemu-aarch64 /arm "$@"; }
server=
end() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
}
trap end EXIT
arm --version
port=$((20000 + RANDOM % 10000))
"$native" target --listen "127.0.0.1:$port" 2>/dev/null &
server=$!
for _ in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break || sleep 0.1; done
url="http://127.0.0.1:$port/hello"
arm hit "$url" -c 2 --rate 100 -d 5s -q --io epoll --fail-if 'p50>1s' --fail-if 'errors>5%' >"$root/trial/hit.txt"
grep --quiet '^gate  *passed' "$root/trial/hit.txt"
arm wrk -t 1 -c 2 -d 1s -s /trial/script.lua "$url" >"$root/trial/wrk.txt"
grep --quiet '^Requests/sec' "$root/trial/wrk.txt"
arm report /trial/run -o /trial/report.html
grep --quiet '<title>' "$root/trial/report.html"
echo "dist-aarch64: the binary loads, judges, runs a script and reports under QEMU"
