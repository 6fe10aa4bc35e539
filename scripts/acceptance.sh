#!/usr/bin/env bash
# What the product promises, shown on the real thing and not only in tests: the main job, its record, its
# ranking, and that nothing is left running. Takes about four minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${CARGO_TARGET_DIR:-target}/release/proofload
cargo build --release --locked
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
fail() { echo "acceptance: $*" >&2; exit 1; }

"$proofload" doctor || fail "this machine can't measure; see above"
for stack in target-pool target-event-loop; do
    "$proofload" check "$stack" || fail "$stack does not keep its contract"
done

"$proofload" run experiments/quick.toml --runs "$runs" | tee "$runs/ranking.txt"
grep -q 'pool of 16' "$runs/ranking.txt" || fail "the ranking does not name the pool of 16"
dir=$(echo "$runs"/quick-*)

# goodput STACK: the median of its goodput on the 100 ms endpoint.
goodput() {
    "$proofload" report "$dir" --json | grep '"round":"sleep 100 ms"' | grep "\"stack\":\"$1\"" |
        grep -o '"goodput_per_s":[0-9.]*' | cut -d: -f2 | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
# within NAME VALUE DUE: within 3 %.
within() {
    awk -v v="$2" -v due="$3" 'BEGIN { d = (v - due) / due; exit !(d <= 0.03 && d >= -0.03) }' ||
        fail "$1 gives $2/s instead of $3/s on the 100 ms endpoint"
}
within target-pool "$(goodput target-pool)" 160
within target-event-loop "$(goodput target-event-loop)" 640

if pgrep -f "$runs" >/dev/null; then fail "processes are left: $(pgrep -af "$runs")"; fi
echo "acceptance: passed"
