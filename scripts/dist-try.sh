#!/usr/bin/env bash
# Tries what scripts/dist.sh made in a root that holds nothing but the binary: no C library, no shell, no checkout. A load
# against the calibration server with a gate, a page, and a project.
#   scripts/dist-try.sh     the archive in dist/; ends with 3 where the machine lets nobody make such a root
set -euo pipefail
cd "$(dirname "$0")/.."

out="${DIST:-dist}"
(cd "$out" && sha256sum --check --quiet SHA256SUMS)
archive="$out/$(awk '{ print $2 }' "$out/SHA256SUMS")"
root="$(mktemp --directory)"
target=""
end() {
    if [ -n "$target" ]; then
        kill "$target" 2>/dev/null || true
        wait "$target" 2>/dev/null || true
    fi
    rm -rf "$root"
}
trap end EXIT
tar --extract --gzip --file "$archive" --directory "$root" --strip-components=1 --wildcards '*/proofload'
mkdir "$root/project" "$root/tmp"
printf 'module example.org/cart\n' >"$root/project/go.mod"

if [ "$(id -u)" -eq 0 ]; then
    inside=(chroot "$root")
elif unshare --map-root-user true 2>/dev/null; then
    inside=(unshare --map-root-user chroot "$root")
else
    echo "dist-try: neither root nor a user namespace is to be had here" >&2
    exit 3
fi

"${inside[@]}" /proofload --version
port=$((20000 + RANDOM % 10000))
# An array, and no function: what is in the background is then the server itself.
"${inside[@]}" /proofload target --listen "127.0.0.1:$port" 2>/dev/null &
target=$!
for _ in $(seq 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
kill -0 "$target" 2>/dev/null || { echo "dist-try: the server did not come up at port $port; try again" >&2; exit 1; }
url="http://127.0.0.1:$port/hello"
"${inside[@]}" /proofload hit "$url" -c 4 --rate 500 -d 6s -q --fail-if 'p50>1s' --fail-if 'errors>1%' --json >"$root/hit.json"
grep -q '"answer": "passed"' "$root/hit.json"
code=0
"${inside[@]}" /proofload hit "$url" -c 4 -n 100 -q --fail-if 'p50>1s' >/dev/null || code=$?
[ "$code" -eq 5 ] || { echo "dist-try: a load too short to tell ended with $code" >&2; exit 1; }
"${inside[@]}" /proofload init /project >/dev/null
grep -q '^\[gate\]' "$root/project/proofload.toml"
"${inside[@]}" /proofload completions bash | grep -q fail-if
echo "dist-try: $(basename "$archive") works in a root of its own ($(stat --format=%s "$root/proofload") bytes)"
