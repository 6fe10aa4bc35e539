#!/usr/bin/env bash
# Why each cell of the write-ups' runs stopped, into docs/verdicts/NAME.txt: of the records in docs/replication/NAME/records, or
# where there are none yet of those in docs/samples/records/NAME. Nothing is measured. A test holds the texts to the records.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
[ -x "$proofload" ] || { echo "verdicts: $proofload is missing; make build makes it" >&2; exit 1; }
for file in docs/verdicts/*.txt; do
    name=$(basename "$file" .txt)
    parts=(docs/replication/"$name"/records docs/replication/"$name"/records-*)
    [ -d "${parts[0]}" ] || parts=(docs/samples/records/"$name")
    for records in "${parts[@]}"; do
        [ -d "$records" ] || continue
        "$proofload" report "$records"
        echo
        "$proofload" explain "$records"
    done >"$file"
    echo "verdicts: $file"
done
