#!/usr/bin/env bash
# Keeps what runs of the experiments to choose by came to: scripts/choose.sh NAME=RUN..., such as
# containers=runs/choose-containers-20260101-120000. The records of each run go to docs/choose/NAME/records, as small as reports allow,
# with its ranking and pictures of its report beside them, and the tables on the two pages, and on the READMEs, are made of all of them;
# without a name only that, as after a change of the rules. Nothing is measured. A test makes texts and pages again and compares.
#
# --into DIR writes the texts and the pages into that folder, and leaves those that are there as they are. Pictures take a Chromium
# (PROOFLOAD_CHROMIUM names one that lies elsewhere).
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
folder=docs/choose
names=(containers gateways threading)
[ -x "$proofload" ] || { echo "choose: $proofload is missing; make build makes it" >&2; exit 1; }
into=$folder
if [ "${1:-}" = --into ]; then
    into=${2:?a folder}
    shift 2
fi

# The report of the run in $1 in a browser that speaks $2, as a picture in $3.
picture() {
    local chromium=${PROOFLOAD_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
    [ -x "$chromium" ] || { echo "choose: a Chromium is missing, so $3 is not made" >&2; return; }
    local scratch
    scratch=$(mktemp -d)
    "$proofload" report "$1" -o "$scratch/report.html"
    "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" --window-size=1200,1400 \
        --virtual-time-budget=5000 --screenshot="$3" "file://$scratch/report.html?lang=$2&theme=light" 2>/dev/null
    rm -rf "$scratch"
}

for given in "$@"; do
    name=${given%%=*} run=${given#*=}
    [[ " ${names[*]} " == *" $name "* && "$given" == *=* ]] || { echo "choose: give NAME=RUN, with a NAME of ${names[*]}" >&2; exit 2; }
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    "$proofload" report "$run" --export "$folder/$name/records"
    picture "$folder/$name/records" en "$folder/$name/report.png"
    # Without a font that has them, Chinese letters would be boxes.
    if [ -n "$(fc-list :lang=zh-cn 2>/dev/null)" ]; then picture "$folder/$name/records" zh "$folder/$name/report.zh-CN.png"; fi
    echo "choose: $folder/$name, records of $(du -sk "$folder/$name/records" | cut -f1) KiB"
done

# What is the same in every table, in Chinese. Limits and doubts stay as the records have them.
chinese='s/ p99 at ([0-9.]+ %) / \1 负载下的 p99 /g
s/ stack \| goodput / 技术栈 | 有效吞吐 /
s/ memory at ([0-9.]+ %) \| boot \| limit / \1 负载下的内存 | 启动 | 限制 /
s/^### To choose by: /### 选型表：/
s/^p99 is the 99th percentile of response time where all are asked (.*) of what the slowest of them carries\..*/各栈被要求的速率相同：最慢者所能承载的 \1。/
s/ and (8|9|[1-9][0-9.]* %)/ 和 \1/'

# The part of a page that is of $1, in the language $2.
section() {
    local name=$1 language=$2 records=$folder/$1/records title
    title=$(sed -nE 's/^title = "(.*), to choose by"$/\1/p' "experiments/choose-$name.toml")
    if [ "$language" = zh ]; then
        case $name in containers) title='Servlet 容器' ;; gateways) title='网关' ;; threading) title='线程模型' ;; esac
    fi
    printf '\n## %s\n\n' "$title"
    if [ ! -d "$records" ]; then
        case $language in
            en) echo "*Not measured yet.* \`proofload run experiments/choose-$name.toml\` measures it; with \`--dry-run\` it says how long that takes." ;;
            zh) echo "*尚未测量。* \`proofload run experiments/choose-$name.toml\` 会测量它；加上 \`--dry-run\` 则只说明需要多久。" ;;
        esac
        return
    fi
    local report table
    report=$("$proofload" report "$records" --format markdown)
    # From its heading to the next one; and the line about machine and run.
    table=$(awk '/^### /{on = /^### To choose by: /} on' <<<"$report")
    [ "$language" = en ] || table=$(sed -E "$chinese" <<<"$table")
    printf '%s\n\n' "$table"
    grep '^<sub>' <<<"$report" | sed -E 's/ Times are from .*<\/sub>$/<\/sub>/'
    if [ "$language" = en ]; then
        printf '\n[The whole ranking](%s/ranking.txt), with the twin, the control, and what speaks against a row.\n' "$name"
        [ ! -f "$folder/$name/report.png" ] || printf '\n![The report of this run](%s/report.png)\n' "$name"
    else
        printf '\n[完整排名](%s/ranking.txt)，包括孪生栈、对照，以及每一行的疑点。\n' "$name"
        local image=report.zh-CN.png
        [ -f "$folder/$name/$image" ] || image=report.png
        [ ! -f "$folder/$name/$image" ] || printf '\n![这次运行的报告](%s/%s)\n' "$name" "$image"
    fi
}

for name in "${names[@]}"; do
    [ -d "$folder/$name/records" ] || continue
    mkdir -p "$into/$name"
    "$proofload" report "$folder/$name/records" >"$into/$name/ranking.txt"
done
for page in README.md:en README.zh-CN.md:zh; do
    language=${page#*:} page=${page%:*}
    text=$(for name in "${names[@]}"; do section "$name" "$language"; done)
    # What stands between the marks is made from all of them; awk would read a backslash in what it is given as a variable.
    made=$(mktemp)
    TEXT=$text awk '
        /<!-- choices: begin -->/ { print; print ENVIRON["TEXT"]; skip = 1 }
        /<!-- choices: end -->/ { print ""; skip = 0 }
        !skip
    ' "$folder/$page" >"$made"
    mkdir -p "$into"
    cat "$made" >"$into/$page"
    rm "$made"
done

[ "$into" = "$folder" ] || exit 0
# Who carries how much stands at the top of the READMEs, too: the first columns of those tables.
for page in README.md README.zh-CN.md; do
    rows=$(awk '
        /^## / { title = substr($0, 4) }
        /^### / { load = $0; sub(/^### (To choose by: |选型表：)/, "", load); of = " " title " (" load ")" }
        /^\| [^\\]/ { split($0, cell, / \| /); printf "|%s %s | %s | %s |\n", of, cell[1], cell[2], cell[3]; of = "" }
    ' "$folder/$page")
    made=$(mktemp)
    # The head of the table stays as it is.
    ROWS=$rows awk '
        /<!-- chosen: begin -->/ { kept = 3 }
        /<!-- chosen: end -->/ { print ENVIRON["ROWS"]; skip = 0 }
        !skip
        kept && --kept == 0 { skip = 1 }
    ' "$page" >"$made"
    cat "$made" >"$page"
    rm "$made"
done
