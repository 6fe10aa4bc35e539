#!/usr/bin/env bash
# The tables of docs/benchmarks.md from what `proofload calibrate --peers --json` printed, given as a file.
set -euo pipefail

jq -r '
def ms: . / 1000 | if . < 10 then . * 1000 | round / 1000 elif . < 1000 then . * 100 | round / 100 else round end;
def signed: (if . < 0 then "−" else "+" end) + "\(if . < 0 then -. else . end | . * 10 | round / 10)";
def cell: "\(.truth_us | ms) ms, \(.off_us | signed) µs" + (if .in_bounds then "" else " **!**" end);
"| case | server | p50 | p90 | p99 | p99.9 | p99.99 | tries |", "|---|---|---:|---:|---:|---:|---:|---:|",
([.cases, .verdicts] | transpose[] | . as [$case, $verdict] |
  "| `\($case.name)` | \($case.server) | " + ([$verdict.response[] | cell] | join(" | ")) + " | \($case.tries | length) |"),
"",
"| case | generator | p50 | p90 | p99 | p99.9 |", "|---|---|---:|---:|---:|---:|",
(.cases[] | . as $case | .peers[] | select(.told) |
  "| `\($case.name)` | \(.name) | " +
  ([.told as $it | ("p50", "p90", "p99", "p99_9") as $p
    | ($it.told[$p] | if . then "\(ms)" else "–" end) + " / \($it.truth.response_time_us[$p] | ms) ms"] | join(" | ")) + " |")
' "$1"
