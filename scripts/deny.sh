#!/usr/bin/env bash
# Checks the dependency tree against deny.toml. Installs cargo-deny where it is missing, which takes some minutes.
# Advisories are checked only where their database can be fetched; the rest always is.
#
# Exit code: 0 when all is allowed, 1 when something is not, 3 where cargo-deny can't be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
fetch_seconds=60
# What judges the tree is part of what is trusted: this version, with the dependencies that it was released with.
version=0.20.2

if [ "$(cargo deny --version 2>/dev/null)" != "cargo-deny $version" ]; then
    echo "deny: installing cargo-deny $version"
    # It runs for a second: building it fast is worth more than a fast build of it.
    CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0 \
        cargo install cargo-deny --version "=$version" --locked --quiet || {
        echo "deny: cargo-deny could not be installed: cargo install cargo-deny --version =$version --locked" >&2
        exit "$cannot"
    }
fi

checks=(licenses bans sources)
if timeout "$fetch_seconds" cargo deny fetch db >/dev/null 2>&1; then
    checks+=(advisories)
else
    echo "deny: the advisory database can't be fetched from here; advisories are not checked" >&2
fi
cargo deny --locked check "${checks[@]}"
