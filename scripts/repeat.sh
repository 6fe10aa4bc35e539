#!/usr/bin/env bash
# How often tests fail: scripts/repeat.sh TIMES [ARGUMENTS OF CARGO TEST...] [-- ARGUMENTS OF THE TESTS...], as in
#
#   scripts/repeat.sh 20 --test alone calibrate -- --ignored
#
# builds them once, runs them so often, and counts. A measurement that was void because others used the machine, and made
# again, is counted by itself. Exit code: 0 where every run passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ "${1:-}" =~ ^[1-9][0-9]*$ ]] || { echo "repeat: name how often, as in: scripts/repeat.sh 20 --test alone" >&2; exit 2; }
times=$1
shift
of_cargo=() of_tests=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do of_cargo+=("$1"); shift; done
[ $# -eq 0 ] || { shift; of_tests=("$@"); }

# All of the workspace, as `make test` builds it: nothing is compiled for this alone.
cargo test --quiet --workspace --locked --no-run "${of_cargo[@]}"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
failed=0 void=0
for run in $(seq "$times"); do
    code=0
    cargo test --quiet --workspace --locked "${of_cargo[@]}" -- --nocapture "${of_tests[@]}" >"$said" 2>&1 || code=$?
    void=$((void + $(grep -c '^VOID ' "$said" || true)))
    [ $code -eq 0 ] && continue
    failed=$((failed + 1))
    echo "run $run failed:"
    grep -A 12 ' panicked at ' "$said" | head -n 40 || tail -n 20 "$said"
done
echo "$failed of $times runs failed, $void measurements were void"
[ "$failed" -eq 0 ]
