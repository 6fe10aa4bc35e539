#!/usr/bin/env bash
# The main job, from a fresh clone: what compiling takes is installed first, and then Proofload is compiled while the rest is
# installed, fetched and built. It ends with the ranking of experiments/quick.toml.
#
#   scripts/run.sh [ARGUMENTS OF proofload run]
#
# Exit code: that of `proofload run`; 1 where it could not be compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

began=$SECONDS
say() { printf 'run: %s\n' "$*"; }
experiment=experiments/quick.toml
proofload=${CARGO_TARGET_DIR:-target}/first/proofload
compile=(cargo build --profile first --locked -p proofload --no-default-features)
log=$(mktemp)
prepare=

# Whoever interrupts us interrupts all that we started.
clean_up() {
    if [ -n "$prepare" ]; then kill "$prepare" 2>/dev/null || true; wait "$prepare" 2>/dev/null || true; fi
    rm -f "$log"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# The Maven modules of the experiment's stacks of which nothing is built yet, by commas.
modules() {
    local id file output
    sed -n 's/^stacks = \[\(.*\)\]$/\1/p' "$experiment" | tr -d '" ' | tr ',' '\n' | sed 's/@.*//' | sort -u |
        while read -r id; do
            file=stacks/$id/stack.toml
            output=$(sed -n 's/^output = "\(.*\)"$/\1/p' "$file")
            [ -e "stacks/_builds/spring/build/$output" ] ||
                sed -n 's|^command = \["sh", "../maven.sh", "-pl", "\(.*\)"\]$|\1|p' "$file"
        done | sort -u | paste -sd, -
}

# The stacks' tools and libraries. Maven fetches while the compiler runs; `proofload run` looks whether what it built is of
# today.
fetch() {
    local missing
    scripts/setup.sh run
    missing=$(modules)
    [ -z "$missing" ] || ! command -v mvn >/dev/null ||
        (cd stacks/_builds/spring && exec sh ../maven.sh -pl "$missing")
}

# Who must type a password for sudo types it before anything goes on in the background.
if [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; then scripts/setup.sh compile; else scripts/setup.sh run; fi
say "compiling, and fetching what the stacks need (some two minutes where nothing is there yet)"
fetch >"$log" 2>&1 </dev/null &
prepare=$!
"${compile[@]}"
say "compiled after $((SECONDS - began)) s"
# What is missing is said again by what needs it, with the command that installs it.
if wait "$prepare"; then
    grep '^setup: ' "$log" | grep -v '^setup: all tools' || true
else
    say "not all that the stacks need could be fetched; the end of what was said:"
    tail -n 5 "$log"
fi
prepare=
rm -f "$log"
say "ready after $((SECONDS - began)) s; now the trials, for some two minutes"
exec "$proofload" run "$experiment" "$@"
