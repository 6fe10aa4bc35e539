#!/usr/bin/env bash
# The front end of the HTML report: its types, whether web/src/model.ts is what docs/report.schema.json says and
# web/dist/report.html what web/ builds, and its tests in a browser. `scripts/web.sh build` makes both anew instead. Needs Node 18 or newer with npm, and for the tests a Chromium, which is not
# fetched: PROOFLOAD_CHROMIUM names one that lies elsewhere.
#
# Exit code: 0 when all is well, 1 when something is not, 3 where Node, npm's packages or a Chromium can't be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../web"

cannot=3
node_major_min=18
cannot_try() { echo "web: $1" >&2; exit "$cannot"; }

for tool in node npm; do
    command -v "$tool" >/dev/null || cannot_try "$tool is missing; apt-get install nodejs npm"
done
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge "$node_major_min" ] || cannot_try "Node $major is too old; it takes $node_major_min or newer"
npm ci --ignore-scripts --loglevel error >/dev/null || cannot_try "the packages of web/package-lock.json can't be had"

if [ "${1:-}" = build ]; then
    model=$(node model.mjs)
    printf '%s\n' "$model" >src/model.ts
    npm run --silent build
    exit
fi
node model.mjs | cmp - src/model.ts || {
    echo "web: web/src/model.ts is not what docs/report.schema.json says; run scripts/web.sh build and commit both" >&2
    exit 1
}
npm run --silent types
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
npm run --silent build -- --outDir "$built" --emptyOutDir
cmp "$built/report.html" dist/report.html || {
    echo "web: web/dist/report.html is not what web/ builds; run scripts/web.sh build and commit it" >&2
    exit 1
}

chromium=${PROOFLOAD_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -x "$chromium" ] || cannot_try "a Chromium is missing; apt-get install chromium, or name one in PROOFLOAD_CHROMIUM"
PROOFLOAD_CHROMIUM=$chromium npm test --silent
