#!/usr/bin/env bash
# Keeps what replications came to: scripts/replication.sh NAME..., after `proofload replicate NAME`. The records of each last run of
# all claims go to docs/replication/NAME/records, as small as reports allow, and what they come to beside them; NAME=RUN keeps that
# run beside those that are there, in records-DATE, as of `proofload replicate NAME --claims ID`. Records go only where others of
# the same folder take their place. Without a name, the texts are made again from the records that are there, as after a change of
# the rules. Nothing is measured. A test holds the texts to the records.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
folder=docs/replication
[ -x "$proofload" ] || { echo "replication: $proofload is missing; make build makes it" >&2; exit 1; }

# keep FOLDER COMMAND...: what the command exports takes the place of the folder once all of it is there.
keep() {
    local to=$1
    shift
    rm -rf "$to.new"
    "$@" --export "$to.new"
    rm -rf "$to"
    mv "$to.new" "$to"
}

for kept in "$@"; do
    name=${kept%%=*} to=$folder/${kept%%=*}/records
    mkdir -p "$folder/$name"
    if [ "$name" = "$kept" ]; then
        keep "$to" "$proofload" replicate "$name"
    else
        run=${kept#*=}
        [ ! -d "$to" ] || to=$to-$(sed -nE 's/.*"started": *"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}).*/\1\2\3-\4\5/p' "$run/manifest.json" | head -n 1)
        keep "$to" "$proofload" report "$run"
    fi
done
rows=$'| write-up | verdicts |\n|---|---|\n'
lists=
for records in "$folder"/*/records; do
    [ -d "$records" ] || continue
    name=$(basename "$(dirname "$records")")
    "$proofload" replicate "$name" --no-load --runs /nonexistent >"$folder/$name/claims.txt"
    for part in "$folder/$name"/records "$folder/$name"/records-*; do
        [ ! -d "$part" ] || "$proofload" report "$part"
    done >"$folder/$name/ranking.txt"
    rows+="| [$name]($name/claims.txt) | $(grep -E '^[0-9]+ claims: ' "$folder/$name/claims.txt") |"$'\n'
    # `VERDICT: sentence [id]` becomes `- **verdict** – sentence`.
    claims=$(sed -nE 's/^([A-Z][A-Z ,]+): (.*) \[[a-z0-9-]+\]$/- **\L\1\E** – \2/p' "$folder/$name/claims.txt")
    lists+=$'\n'"What $name claims:"$'\n\n'"$claims"$'\n'
    echo "replication: $folder/$name, with its records $(du -sk "$folder/$name" | cut -f1) KiB"
done

# The first claims of a write-up that were decided, three at most: `**verdict**: sentence`, with breaks between.
decided() {
    sed -nE 's/^(CONFIRMED|DIRECTION CONFIRMED[A-Z ,]*|REVERSED|TIED): (.*) \[[a-z0-9-]+\]$/**\L\1\E**: \2/p' "$1" |
        head -n 3 | paste -sd '|' | sed 's/|/<br>/g'
}

# What the two READMEs say: of every write-up, also of those that were not measured, in the order of their names.
readme_rows() {
    local language=$1 file name title verdicts
    case $language in
        en) printf '| write-up | its claims here | the first of them |\n|---|---|---|\n' ;;
        zh) printf '| 评测 | 其论断在这里的判定 | 其中的前几条 |\n|---|---|---|\n' ;;
    esac
    for file in published/*.toml; do
        name=$(basename "$file" .toml)
        title=$(sed -nE 's/^title = "(.*)"$/\1/p' "$file" | head -n 1)
        if [ -d "$folder/$name/records" ]; then
            verdicts=$(grep -E '^[0-9]+ claims: ' "$folder/$name/claims.txt")
            printf '| [%s](%s/%s/claims.txt) | %s | %s |\n' "$title" "$folder" "$name" "$verdicts" \
                "$(decided "$folder/$name/claims.txt")"
        else
            case $language in en) verdicts='not measured yet' ;; zh) verdicts='尚未测量' ;; esac
            printf '| %s | %s | |\n' "$title" "$verdicts"
        fi
    done
}

# fill FILE TEXT: what stands between the marks is made from all of them.
fill() {
    awk -v text="$2" '
        /<!-- replications: begin -->/ { print; printf "%s", text; skip = 1 }
        /<!-- replications: end -->/ { skip = 0 }
        !skip || /<!-- replications: end -->/
    ' "$1" >"$1.new"
    mv "$1.new" "$1"
}
fill "$folder/README.md" "$rows$lists"
fill README.md "$(readme_rows en)"$'\n'
fill README.zh-CN.md "$(readme_rows zh)"$'\n'
