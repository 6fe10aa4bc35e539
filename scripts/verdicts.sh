#!/usr/bin/env bash
# Writes down why each cell of a run stopped: scripts/verdicts.sh NAME RUN, into docs/verdicts/NAME.txt. Everything is made
# from the run's records, and nothing is measured.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${CARGO_TARGET_DIR:-target}/release/proofload
[ $# -eq 2 ] || { echo "verdicts: name a write-up and a run, as in: scripts/verdicts.sh gateways runs/gateways-20260101-120000" >&2; exit 2; }
mkdir -p docs/verdicts
{
  "$proofload" report "$2" | sed '/^Full record:/d'
  echo
  "$proofload" explain "$2"
} >"docs/verdicts/$1.txt"
echo "verdicts: docs/verdicts/$1.txt"
