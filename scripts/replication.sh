#!/usr/bin/env bash
# Keeps what replications came to: scripts/replication.sh NAME..., after `proofload replicate NAME`. The records of each last run go
# to docs/replication/NAME/records, as small as reports allow, and what they come to beside them; without a name, that is made
# again from the records that are there, as after a change of the rules. Nothing is measured. A test holds the texts to the records.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
folder=docs/replication
[ -x "$proofload" ] || { echo "replication: $proofload is missing; make build makes it" >&2; exit 1; }

for name in "$@"; do
    rm -rf "$folder/$name/records"
    mkdir -p "$folder/$name"
    "$proofload" replicate "$name" --export "$folder/$name/records"
done
text=$'| write-up | verdicts |\n|---|---|\n'
lists=
for records in "$folder"/*/records; do
    [ -d "$records" ] || continue
    name=$(basename "$(dirname "$records")")
    "$proofload" replicate "$name" --no-load --runs /nonexistent >"$folder/$name/claims.txt"
    "$proofload" report "$records" >"$folder/$name/ranking.txt"
    text+="| [$name]($name/claims.txt) | $(grep -E '^[0-9]+ claims: ' "$folder/$name/claims.txt") |"$'\n'
    # `VERDICT: sentence [id]` becomes `- **verdict** – sentence`.
    claims=$(sed -nE 's/^([A-Z][A-Z ,]+): (.*) \[[a-z0-9-]+\]$/- **\L\1\E** – \2/p' "$folder/$name/claims.txt")
    lists+=$'\n'"What $name claims:"$'\n\n'"$claims"$'\n'
    echo "replication: $folder/$name, records of $(du -sk "$records" | cut -f1) KiB"
done
# What stands between the marks is made from all of them.
awk -v text="$text$lists" '
    /<!-- replications: begin -->/ { print; printf "%s", text; skip = 1 }
    /<!-- replications: end -->/ { skip = 0 }
    !skip || /<!-- replications: end -->/
' "$folder/README.md" >"$folder/README.md.new"
mv "$folder/README.md.new" "$folder/README.md"
