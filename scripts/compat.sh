#!/usr/bin/env bash
# The same run by real wrk and by `proofload wrk`, read by other people's parsers of wrk's output: each must find the
# same fields of the same kinds in both. Needs wrk, npm and pip; fetches the parsers into the target folder.
#
#   wrk       1.2.1  npm   reads by line number from both ends
#   wrktools  0.1.9  PyPI  a grammar a line (pyparsing)
#   wrk2img   1.1.0  PyPI  regular expressions, percentiles only
#
# Exit code: 0 where they agree, 1 where they don't, 3 where it can't be tried here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
for tool in wrk node npm python3; do
    command -v "$tool" >/dev/null || { echo "compat: $tool is missing; install it (wrk: make setup)" >&2; exit "$cannot"; }
done

cargo build --quiet --locked -p proofload
target_dir=${CARGO_TARGET_DIR:-target}
proofload=$target_dir/debug/proofload
parsers=$target_dir/compat
if [ ! -e "$parsers/complete" ]; then
    mkdir -p "$parsers"
    # Without what they depend on for other things than parsing (plots, reports).
    fetch() {
        npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$parsers" wrk@1.2.1 &&
            python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --upgrade \
                --target "$parsers/python" wrktools==0.1.9 wrk2img==1.1.0 pyparsing==3.2.5
    }
    # A registry that does not answer once is asked again.
    fetch || { sleep 10; fetch; } || { sleep 30; fetch; } || { echo "compat: the parsers can't be had" >&2; exit "$cannot"; }
    touch "$parsers/complete"
fi

work=$(mktemp -d)
server=
# shellcheck disable=SC2317
clean_up() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"; }
trap clean_up EXIT

# serve ARGUMENTS…: starts the calibration server, and sets url.
serve() {
    [ -z "$server" ] || { kill "$server"; wait "$server" 2>/dev/null || true; }
    : >"$work/server.log"
    "$proofload" target --listen 127.0.0.1:0 --path /slow=20ms "$@" 2>"$work/server.log" &
    server=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/^serving \(http:[^ ]*\).*/\1/p' "$work/server.log")
        [ -z "$url" ] || return 0
        sleep 0.1
    done
    echo "compat: the calibration server did not start: $(cat "$work/server.log")" >&2
    exit 1
}
# both NAME ARGUMENTS…: the same command line to the two.
both() {
    local name=$1
    shift
    wrk "$@" >"$work/$name.real"
    "$proofload" wrk "$@" >"$work/$name.ours"
}

serve
both plain -t2 -c8 -d2s "$url/slow"
both latency -t3 -c10 -d2s --latency --timeout 30s -H 'A: b' "$url/slow"
serve --error-share 1
both errors -t2 -c8 -d2s --latency "$url/slow"
# Of late answers and of none, wrk prints figures that its readers can't take; ours they must.
serve --never-answer
both silent -t2 -c8 -d1s --latency --timeout 1s "$url/slow"
python3 scripts/compat/compare.py "$parsers" "$work" plain latency errors --only-ours silent
