#!/usr/bin/env bash
# CPU time a request of `proofload hit` against wrk, alternated A B A B in one run against the built-in target.
# The client is pinned to core 0, the server to core 1. Prints a Markdown table: medians, and the median and
# the range of the paired ratios. Run it on a machine that does nothing else.
#
#   scripts/bench-wrk.sh [PAIRS [SECONDS]]      default: 10 pairs of 3 s each
set -euo pipefail
cd "$(dirname "$0")/.."

pairs=${1:-10}
seconds=${2:-3}
proofload=${CARGO_TARGET_DIR:-target}/release/proofload
port=18999
url=http://127.0.0.1:$port/hello

command -v wrk >/dev/null || { echo "bench: wrk is missing: apt-get install wrk" >&2; exit 3; }
[ -x "$proofload" ] || { echo "bench: $proofload is missing: make build" >&2; exit 1; }
[ "$(nproc)" -ge 2 ] || { echo "bench: two cores are needed, one for the client and one for the server" >&2; exit 3; }

taskset -c 1 "$proofload" target --listen "127.0.0.1:$port" --model event-loop 2>/dev/null &
server=$!
times=$(mktemp)
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -f "$times"' EXIT
sleep 0.5

# cpu_us COMMAND…: CPU time, user and system, that the command used, in µs; its output goes to $output.
output=""
cpu_us() {
    TIMEFORMAT='%U %S'
    { time output=$("$@" 2>/dev/null); } 2>"$times"
    awk '{ printf "%.0f", ($1 + $2) * 1e6 }' "$times" >"$times.us"
    used=$(cat "$times.us"); rm -f "$times.us"
}

# Both: the whole process, set-up included, over all requests that it made.
run_wrk() {
    cpu_us taskset -c 0 wrk -t1 -c"$1" -d"${seconds}s" --timeout 10s "$url"
    local requests
    requests=$(awk '/requests in/ { print $1 }' <<<"$output")
    awk -v us="$used" -v n="$requests" 'BEGIN { printf "%.3f", us / n }'
}
run_proofload() {
    cpu_us taskset -c 0 "$proofload" hit "$url" -c "$1" -d "${seconds}s" --timeout 10s --json
    local requests
    requests=$(awk -F'[:,]' '/"intended"/ { print $2 + 0 }' <<<"$output")
    awk -v us="$used" -v n="$requests" 'BEGIN { printf "%.3f", us / n }'
}

# Median of the numbers on standard input, or the line at a given share of the sorted ones.
at() { sort -g | awk -v share="$1" '{ v[NR] = $1 } END { i = share * (NR - 1) + 1; l = int(i); h = l < NR ? l + 1 : l; printf "%.2f", v[l] + (v[h] - v[l]) * (i - l) }'; }

echo "| connections | wrk, µs CPU a request | proofload, µs CPU a request | ratio, median of $pairs pairs | range |"
echo "|---:|---:|---:|---:|---:|"
for connections in 64 300 1000 5000; do
    wrk_all="" ours_all="" ratios=""
    for ((pair = 0; pair < pairs; pair++)); do
        if ((pair % 2)); then
            ours=$(run_proofload "$connections"); theirs=$(run_wrk "$connections")
        else
            theirs=$(run_wrk "$connections"); ours=$(run_proofload "$connections")
        fi
        wrk_all+="$theirs"$'\n' ours_all+="$ours"$'\n'
        ratios+=$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.3f", a / b }')$'\n'
        echo "bench: $connections connections, pair $((pair + 1))/$pairs: wrk $theirs, proofload $ours" >&2
    done
    printf '| %s | %s | %s | %s | %s–%s |\n' "$connections" "$(printf %s "$wrk_all" | at 0.5)" \
        "$(printf %s "$ours_all" | at 0.5)" "$(printf %s "$ratios" | at 0.5)" \
        "$(printf %s "$ratios" | at 0)" "$(printf %s "$ratios" | at 1)"
done
