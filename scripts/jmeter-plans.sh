#!/usr/bin/env bash
# What the importer says of plans that others wrote: scripts/jmeter-plans.sh OWNER/NAME=CHECKOUT..., each a git
# repository of theirs. Every .jmx file of its HEAD is checked, and nothing is sent. What comes out replaces docs/samples/jmeter/plans.tsv, a line a plan: repository
# and commit, plan, elements that are carried out or need not be, all elements, whether it makes HTTP requests, whether it can be run.
# Without a checkout, docs/jmeter.md is made again from the lines that are there. A test holds the two together.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
record=docs/samples/jmeter/plans.tsv
page=docs/jmeter.md
if [ $# -gt 0 ]; then
    [ -x "$proofload" ] || { echo "jmeter-plans: $proofload is missing; make build makes it" >&2; exit 1; }
    mkdir -p "$(dirname "$record")"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    for named in "$@"; do
        name=${named%%=*} checkout=${named#*=}
        commit=$(git -C "$checkout" rev-parse --short=7 HEAD)
        # Plans, and the data that some read.
        git -C "$checkout" -c core.quotePath=false ls-tree -r --name-only HEAD | grep -E '\.(jmx|csv)$' | while IFS= read -r file; do
            mkdir -p "$work/$(dirname "$file")"
            git -C "$checkout" show "HEAD:$file" >"$work/$file"
        done
        (cd "$work" && find . -name '*.jmx' | sed 's#^\./##' | LC_ALL=C sort) | while IFS= read -r plan; do
            code=0
            said=$("$proofload" jmeter --check -t "$work/$plan" 2>&1) || code=$?
            # `36 % of 11 elements supported: 4 carried out, 0 without effect, 7 not supported`
            read -r all not < <(sed -nE 's/^[0-9]+ % of ([0-9]+) elements supported: .*, ([0-9]+) not supported$/\1 \2/p' <<<"$said") || {
                all=0 not=0
            }
            http=$(grep -qE '<HTTPSampler(2|Proxy)?[ >]' "$work/$plan" && echo http || echo other)
            whole=$([ $code -eq 0 ] && echo runs || echo refused)
            printf '%s (%s)\t%s\t%s\t%s\t%s\t%s\n' "$name" "$commit" "$plan" $((all - not)) "$all" "$http" "$whole"
        done
        find "$work" -mindepth 1 -delete
    done >"$record.new"
    mv "$record.new" "$record"
fi
text=$(awk -F '\t' '
    $5 == "http" { plans[$1]++; if ($6 == "runs") runs[$1]++; all++ }
    $5 == "http" && $6 == "runs" { whole++ }
    { if (!($1 in seen)) { seen[$1]; order[++count] = $1 } }
    END {
        print "| repository | plans that make HTTP requests | of them supported whole |\n|---|---:|---:|"
        for (at = 1; at <= count; at++) printf "| %s | %d | %d |\n", order[at], plans[order[at]], runs[order[at]]
        printf "| all | %d | %d |\n", all, whole
    }' "$record")
awk -v text="$text" '
    /<!-- plans: begin -->/ { print; print text; skip = 1 }
    /<!-- plans: end -->/ { skip = 0 }
    !skip
' "$page" >"$page.new"
mv "$page.new" "$page"
