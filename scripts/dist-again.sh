#!/usr/bin/env bash
# Builds what scripts/dist.sh builds once more, from a clone in another folder and with another target folder, and compares:
# the same commit makes the same bytes. Takes as long as a release build from nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

out="${DIST:-dist}"
[ -s "$out/SHA256SUMS" ] || { echo "dist-again: run scripts/dist.sh first" >&2; exit 2; }
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "dist-again: commit first: it is the commit that is built" >&2; exit 2; }
clone="$(mktemp --directory)"
trap 'rm -rf "$clone"' EXIT
git clone --quiet --no-hardlinks . "$clone/proofload"
(cd "$clone/proofload" && DIST="$clone/dist" CARGO_TARGET_DIR="$clone/target" scripts/dist.sh)
[ -s "$clone/dist/SHA256SUMS" ] || { echo "dist-again: the second build made nothing" >&2; exit 1; }
# What was made for another machine, or of an earlier version, may lie beside it.
other=$(comm -13 <(sort "$out/SHA256SUMS") <(sort "$clone/dist/SHA256SUMS"))
if [ -z "$other" ]; then
    echo "dist-again: the same bytes"
else
    printf '%s\n' "$other" >&2
    echo "dist-again: other bytes from the same commit" >&2
    exit 1
fi
