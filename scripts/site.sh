#!/usr/bin/env bash
# Builds the documents as a site, in dist/site. Takes mdbook where it is installed, else installs it beside what cargo builds.
# Whether links lead somewhere is tested without it (crates/cli/tests/it/docs.rs).
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.4.52
tools="${CARGO_TARGET_DIR:-target}/tools"
if command -v mdbook >/dev/null; then
    mdbook=mdbook
else
    mdbook="$tools/bin/mdbook"
    [ -x "$mdbook" ] || cargo install mdbook --version "=$version" --locked --no-default-features --features search --root "$tools" ||
        { echo "site: mdbook $version can't be installed" >&2; exit 3; }
fi
book="$(mktemp --directory)"
trap 'rm -rf "$book"' EXIT
cp -r book.toml docs "$book"
# What is only read by tests and by the commands is no page.
rm -rf "$book"/docs/samples/records "$book"/docs/replication/*/records "$book"/docs/choose/*/records
for decision in docs/decisions/0*.md; do
    echo "  - [$(head -1 "$decision" | sed 's/^# //')](${decision#docs/})" >>"$book/docs/SUMMARY.md"
done
rm -rf dist/site
"$mdbook" build --dest-dir "$PWD/dist/site" "$book"
[ -s dist/site/index.html ] || { echo "site: mdbook made no dist/site/index.html" >&2; exit 1; }
echo "dist/site/index.html"
