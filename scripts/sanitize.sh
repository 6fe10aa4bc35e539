#!/usr/bin/env bash
# The drivers' tests, the conformance suite and what provokes their incidents, under AddressSanitizer.
# Needs a nightly toolchain.
#
# Exit code: 0 without a finding, 1 with one, 3 where it can't be done here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "sanitize: no nightly toolchain: rustup toolchain install nightly --profile minimal" >&2
    exit "$cannot"
fi
# With the target named, the flag is for what runs and not for what builds it.
target=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --locked --target "$target" \
    --target-dir "${CARGO_TARGET_DIR:-target}/sanitize" -p proofload-driver || exit 1
echo "sanitize: no finding"
