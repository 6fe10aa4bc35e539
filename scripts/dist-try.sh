#!/usr/bin/env bash
# Tries what scripts/dist.sh made for this machine: the binary in the archive, the one of the Debian package, the one by itself
# and, where there is buildah, the one in the image, each in a root that holds nothing else: no C library, no shell, no checkout, no certificates. A load against the
# calibration server with a gate, a project with a run, its report and its page, and https without anybody to trust.
#   scripts/dist-try.sh     what is in dist/; ends with 3 where the machine lets nobody make such a root
set -euo pipefail
cd "$(dirname "$0")/.."

out="${DIST:-dist}"
machine="$(uname -m)"
(cd "$out" && sha256sum --check --quiet SHA256SUMS)
scratch="$(mktemp --directory)"
started=()
end() {
    for one in "${started[@]}"; do
        kill "$one" 2>/dev/null || true
        wait "$one" 2>/dev/null || true
    done
    rm -rf "$scratch"
}
trap end EXIT

if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    apart=(unshare --mount)
elif unshare --map-root-user --mount true 2>/dev/null; then
    apart=(unshare --map-root-user --mount)
else
    echo "dist-try: neither root nor a user namespace is to be had here" >&2
    exit 3
fi

# Runs /proofload in the root that is its first argument, with the kernel's own files, which a run reads.
enter='root="$1"; shift; for of in proc dev; do mount --rbind "/$of" "$root/$of" || exit; done; exec chroot "$root" /proofload "$@"'

# Waits until $1 listens on the port $2.
is_up() {
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    echo "dist-try: nobody listens at port $2; try again" >&2
    exit 1
}

ends_with() {
    local due="$1" code=0
    shift
    "$@" >"$scratch/said" 2>&1 || code=$?
    [ "$code" -eq "$due" ] || { cat "$scratch/said" >&2; echo "dist-try: ended with $code and not with $due: ${*:3}" >&2; exit 1; }
}

says() {
    grep --quiet --fixed-strings -- "$1" "$scratch/said" || { cat "$scratch/said" >&2; echo "dist-try: it did not say: $1" >&2; exit 1; }
}

try() {
    local what="$1" binary="$2" root="$scratch/root-$1"
    mkdir -p "$root/project" "$root/tmp" "$root/proc" "$root/dev"
    install -m 755 "$binary" "$root/proofload"
    printf 'module example.org/cart\n' >"$root/project/go.mod"
    # An array, and no function: what is in the background is then the server itself.
    local inside=("${apart[@]}" sh -c "$enter" sh "$root")
    ends_with 0 "${inside[@]}" --version
    local port=$((20000 + RANDOM % 10000))
    "${inside[@]}" target --listen "127.0.0.1:$port" 2>/dev/null &
    started+=($!)
    is_up $! "$port"
    local url="http://127.0.0.1:$port/hello"
    ends_with 0 "${inside[@]}" hit "$url" -c 4 --rate 500 -d 6s -q --fail-if 'p50>1s' --fail-if 'errors>1%' --json
    says '"answer": "passed"'
    # LuaJIT is in it.
    printf 'request = function() return wrk.format("GET", "/hello") end\n' >"$root/tmp/script.lua"
    ends_with 0 "${inside[@]}" wrk -t 1 -c 2 -d 1s -s /tmp/script.lua "$url"
    says 'Requests/sec'
    ends_with 5 "${inside[@]}" hit "$url" -c 4 -n 100 -q --fail-if 'p50>1s'
    # TLS is in it, and what is missing is said, with what to do.
    ends_with 2 "${inside[@]}" hit "https://127.0.0.1:$port/" -n 1 -q
    says '--cacert'
    ends_with 0 "${inside[@]}" init /project
    grep --quiet '^\[gate\]' "$root/project/proofload.toml"
    # A project, run and reported; the service is the calibration server.
    cat >"$root/project/run.toml" <<'TOML'
title = "in an empty root"
blocks = 1
blocks_max = 1
twin = false
control = false
[service.cart.run]
command = ["/proofload", "target", "--listen", "127.0.0.1:{port}"]
[service.cart.ready]
[[service.cart.endpoint]]
name = "main"
path = "/hello"
[load]
connections = 2
duration = "1s"
[[round]]
name = "main"
endpoint = "main"
stacks = ["cart"]
[gate]
fail_if = ["errors>0"]
TOML
    ends_with 0 "${inside[@]}" run /project/run.toml -q --runs /project/runs
    says 'gate        passed'
    local run
    run="$(basename "$(ls -d "$root"/project/runs/*/ | head -1)")"
    ends_with 0 "${inside[@]}" report "/project/runs/$run" -o /project/report.html
    grep --quiet '<title>' "$root/project/report.html"
    local page=$((30000 + RANDOM % 2000))
    "${inside[@]}" view /project/runs --listen "127.0.0.1:$page" --no-open >/dev/null 2>&1 &
    started+=($!)
    is_up $! "$page"
    curl --fail --silent --max-time 10 --noproxy '*' "http://127.0.0.1:$page/runs.json" | grep --quiet 'empty root'
    # Its own stacks are inside.
    ends_with 0 env XDG_CACHE_HOME=/tmp "${inside[@]}" list
    says 'target-event-loop'
    echo "dist-try: the $what works in a root of its own ($(stat --format=%s "$binary") bytes)"
}

# The image that Containerfile makes: nothing is in it but the binary and a folder to write to, and the binary is what it starts.
try_image() {
    local in_image="$scratch/context/dist"
    mkdir -p "$in_image"
    cp Containerfile "$scratch/context/"
    cp "$out/proofload-$machine" "$in_image/"
    printf '{"default": [{"type": "insecureAcceptAnything"}]}\n' >"$scratch/policy.json"
    image() { buildah --root "$scratch/images" --runroot "$scratch/running" --storage-driver vfs "$@"; }
    image build --quiet --isolation chroot --signature-policy "$scratch/policy.json" --build-arg "MACHINE=$machine" \
        --tag proofload "$scratch/context" >/dev/null
    local container root
    container="$(image from --pull-never --signature-policy "$scratch/policy.json" localhost/proofload)"
    root="$(image mount "$container")"
    [ "$(cd "$root" && find . -type f)" = ./proofload ] || { echo "dist-try: the image has more files than the binary" >&2; exit 1; }
    [ "$(image inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}' "$container")" = '[/proofload] /tmp' ] ||
        { echo "dist-try: the image starts something else" >&2; exit 1; }
    ends_with 0 "${apart[@]}" chroot "$root" /proofload --version
    try image "$root/proofload"
    image umount "$container" >/dev/null
    image rm "$container" >/dev/null
}

archive="$(ls "$out"/proofload-*-"$machine"-linux.tar.gz)"
mkdir "$scratch/archive"
tar --extract --gzip --file "$archive" --directory "$scratch/archive" --strip-components=1
"$scratch/archive/proofload" completions bash | grep --quiet fail-if
[ -s "$scratch/archive/man/proofload-diff.1" ] && [ -s "$scratch/archive/docs/ci/github.yml" ]
try archive "$scratch/archive/proofload"
for package in "$out"/proofload_*.deb; do
    case "$machine-$package" in x86_64-*_amd64.deb | aarch64-*_arm64.deb) ;; *) continue ;; esac
    dpkg-deb --extract "$package" "$scratch/deb"
    [ -s "$scratch/deb/usr/share/man/man1/proofload.1.gz" ]
    try package "$scratch/deb/usr/bin/proofload"
done
cmp "$out/proofload-$machine" "$scratch/archive/proofload"
if command -v buildah >/dev/null; then
    try_image
else
    echo "dist-try: no image is tried: buildah is missing; on Debian: apt-get install buildah" >&2
fi
if command -v jq >/dev/null; then
    jq --exit-status '.bomFormat == "CycloneDX" and (.components | length > 100)' "$out"/proofload-*-"$machine"-linux.cdx.json >/dev/null
fi
