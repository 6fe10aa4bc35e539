#!/usr/bin/env bash
# Writes down what replications came to: scripts/replication.sh WRITE-UP [--quick], after `proofload replicate` with the
# same arguments. Everything is made from the last run's records, and nothing is measured.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${CARGO_TARGET_DIR:-target}/release/proofload
[ $# -ge 1 ] || { echo "replication: name a write-up, as in: scripts/replication.sh servlet-containers" >&2; exit 2; }
name=$1
shift
dir=docs/replication/$name${1:+-quick}
mkdir -p "$dir"
"$proofload" replicate "$name" --no-load "$@" >"$dir/claims.txt"
run=$(sed -n 's/^Full record: //p' "$dir/claims.txt")
"$proofload" report "$run" >"$dir/ranking.txt"
# Where the binary lay is of this machine alone.
sed -E 's#"/[^"]*/proofload[^"/]*"#"proofload"#' "$run/manifest.json" >"$dir/manifest.json"
echo "replication: $dir"
