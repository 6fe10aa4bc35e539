#!/usr/bin/env bash
# Runs every fuzz target for so many seconds (60): scripts/fuzz.sh [SECONDS].
# Needs a nightly toolchain, and installs cargo-fuzz where it is missing. A find is left in fuzz/artifacts.
#
# Exit code: 0 without a find, 1 with one, 3 where fuzzing can't be done here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
cannot=3

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: no nightly toolchain: rustup toolchain install nightly --profile minimal" >&2
    exit "$cannot"
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz"
    cargo install cargo-fuzz --locked --quiet || {
        echo "fuzz: cargo-fuzz could not be installed: cargo install cargo-fuzz --locked" >&2
        exit "$cannot"
    }
fi

for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    # The first folder grows, the second holds what we wrote by hand.
    folders=("fuzz/corpus/$target")
    mkdir -p "${folders[0]}"
    if [ -d "fuzz/seeds/$target" ]; then folders+=("fuzz/seeds/$target"); fi
    echo "--- fuzz: $target, $seconds s"
    cargo +nightly fuzz run "$target" "${folders[@]}" -- -max_total_time="$seconds" -verbosity=0 -print_final_stats=1 || exit 1
done
