#!/usr/bin/env bash
# Runs every fuzz target, or those that are named, for so many seconds (60) each: scripts/fuzz.sh [SECONDS [TARGET...]].
# Needs a nightly toolchain, and installs cargo-fuzz where it is missing. A find is left in fuzz/artifacts: an input that
# panics, breaks what a target asserts, or takes more memory or time than it may.
#
# Exit code: 0 without a find, 1 with one, 2 where there is no such target, 3 where fuzzing can't be done here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
shift || true
cannot=3
# The version that is installed where there is none.
version=0.13.2
# What one input may take: all of the process, in one piece, and in time. Addresses are watched, which takes some itself.
rss_mb_max=2048
malloc_mb_max=512
input_seconds_max=20

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: no nightly toolchain: rustup toolchain install nightly --profile minimal" >&2
    exit "$cannot"
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz"
    cargo install cargo-fuzz --version "=$version" --locked --quiet || {
        echo "fuzz: cargo-fuzz could not be installed: cargo install cargo-fuzz --version =$version --locked" >&2
        exit "$cannot"
    }
fi

# A name that is mistyped would run nothing, and that would be no find.
for target in "$@"; do
    [ -f "fuzz/fuzz_targets/$target.rs" ] || { echo "fuzz: there is no target $target; see fuzz/fuzz_targets" >&2; exit 2; }
done

for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    if [ $# -gt 0 ] && [[ " $* " != *" $target "* ]]; then continue; fi
    # The first folder grows, the second holds what we wrote by hand.
    folders=("fuzz/corpus/$target")
    mkdir -p "${folders[0]}"
    if [ -d "fuzz/seeds/$target" ]; then folders+=("fuzz/seeds/$target"); fi
    echo "--- fuzz: $target, $seconds s"
    cargo +nightly fuzz run "$target" "${folders[@]}" -- -max_total_time="$seconds" -rss_limit_mb="$rss_mb_max" \
        -malloc_limit_mb="$malloc_mb_max" -timeout="$input_seconds_max" -verbosity=0 -print_final_stats=1 || exit 1
done
