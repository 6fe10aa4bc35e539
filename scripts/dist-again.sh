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
if diff "$out/SHA256SUMS" "$clone/dist/SHA256SUMS"; then
    echo "dist-again: the same bytes"
else
    echo "dist-again: other bytes from the same commit" >&2
    exit 1
fi
