#!/usr/bin/env bash
# What ab, hey, oha, vegeta and bombardier print of three seconds against the calibration server, given to `proofload audit`: each is
# known by its tool, and nothing is broken or unknown in it. Those that are not installed are passed over, by saying so.
#
# The binary is that of PROOFLOAD, or the debug build.
#
# Exit code: 0 where all that is here is read, 1 where one is not, 3 where none is here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/debug/proofload}
[ -n "${PROOFLOAD:-}" ] || cargo build --quiet --locked -p proofload

work=$(mktemp -d)
server=
# shellcheck disable=SC2317
clean_up() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"; }
trap clean_up EXIT

"$proofload" target --listen 127.0.0.1:0 --path /slow=20ms 2>"$work/server.log" &
server=$!
url=
for _ in $(seq 100); do
    url=$(sed -n 's/^serving \(http:[^ ]*\).*/\1/p' "$work/server.log")
    [ -z "$url" ] || break
    sleep 0.1
done
[ -n "$url" ] || { echo "audit-others: the calibration server did not start: $(cat "$work/server.log")" >&2; exit 1; }

tried=0 wrong=0
# hold TOOL COMMAND: runs the command, and holds what the audit says of its output to what is due.
hold() {
    local tool=$1 command=$2 code=0
    command -v "$tool" >/dev/null || { echo "$tool: not installed, passed over"; return; }
    tried=$((tried + 1))
    # With its command above it, as people paste it.
    { echo "\$ $command"; timeout 30 bash -c "$command" 2>&1 || echo "(exit code $?)"; } >"$work/$tool.txt"
    "$proofload" audit --json "$work/$tool.txt" >"$work/$tool.json" 2>"$work/$tool.err" || code=$?
    if [ "$code" -eq 0 ] && grep -q "^ *\"$tool\",\{0,1\}$" "$work/$tool.json"; then
        echo "$tool: read, and sound"
    else
        wrong=$((wrong + 1))
        echo "$tool: exit code $code of the audit" >&2
        cat "$work/$tool.err" "$work/$tool.json" "$work/$tool.txt" >&2
    fi
}

hold ab "ab -k -c 8 -t 3 -n 1000000 $url/slow"
hold hey "hey -z 3s -c 8 $url/slow"
hold oha "oha --no-tui -z 3s -c 8 $url/slow"
hold vegeta "echo 'GET $url/slow' | vegeta attack -rate=200 -duration=3s | vegeta report"
hold bombardier "bombardier -c 8 -d 3s -l $url/slow"

[ "$tried" -gt 0 ] || { echo "audit-others: none of them is here" >&2; exit "$cannot"; }
[ "$wrong" -eq 0 ]
