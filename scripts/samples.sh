#!/usr/bin/env bash
# The sample reports of docs/samples, and the records that they are made of: scripts/samples.sh NAME RUN, from the directory
# of a run. Of the trials only those are kept whole that the page draws. Without arguments the pages are made again from the
# records that are there, as after a change of the page.
#
#   scripts/samples.sh gateways runs/gateways-20260101-120000
#   scripts/samples.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
samples=docs/samples
[ -x "$proofload" ] || { echo "samples: $proofload is missing; make build makes it" >&2; exit 1; }

# Copies what a report is made of. Paths of this checkout are of no use to anybody else.
keep() {
    local name=$1 run=$2 record="$samples/records/$1" drawn trial file
    rm -rf "$record"
    mkdir -p "$record"
    for file in manifest.json experiment.toml trials.jsonl confirmations.jsonl; do
        [ ! -f "$run/$file" ] || sed "s#$PWD/##g" "$run/$file" >"$record/$file"
    done
    drawn=$("$proofload" report "$run" --format json | grep -o '^      "trial": [0-9]*' | grep -o '[0-9]*$')
    for trial in $drawn; do
        trial=$(printf 'trials/%04d' "$trial")
        mkdir -p "$record/$trial"
        for file in response_time.hlog signals.jsonl; do
            [ ! -f "$run/$trial/$file" ] || sed "s#$PWD/##g" "$run/$trial/$file" >"$record/$trial/$file"
        done
    done
    echo "samples: $record, $(du -sk "$record" | cut -f1) KiB"
}

if [ $# -eq 2 ]; then
    keep "$1" "$2"
elif [ $# -ne 0 ]; then
    echo "samples: give a name and a run's directory, or nothing" >&2
    exit 2
fi
for record in "$samples"/records/*/; do
    name=$(basename "$record")
    "$proofload" report "$samples/records/$name" -o "$samples/$name.html"
    echo "samples: $samples/$name.html, $(du -k "$samples/$name.html" | cut -f1) KiB"
done
