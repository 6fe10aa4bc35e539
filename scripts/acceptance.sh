#!/usr/bin/env bash
# What the product promises, shown on the real thing and not only in tests: every stack and variant as its manifest
# says, the main job, its record, its ranking, proxies at 5000 connections, and that nothing is left running. Takes
# about twenty-five minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${CARGO_TARGET_DIR:-target}/release/proofload
cargo build --release --locked
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
fail() { echo "acceptance: $*" >&2; exit 1; }

"$proofload" doctor || fail "this machine can't measure; see above"
"$proofload" check --all --variants --quiet || fail "not every stack is up and right; see above"

# What is told of a load over TLS and HTTP/2, and of one in shares, is what the server's log says. Cryptography that is not
# optimised takes too long for a test.
for more in --tls "--tls --http2" "--agents 3"; do
    # shellcheck disable=SC2086 # they are words
    "$proofload" calibrate --quick --quiet $more || fail "figures with $more are not those of the server's log"
done

# What is not optimised takes too long to read what two hundred busy load threads tell.
cargo test --release --locked --quiet -p proofload --test alone -- --ignored two_hundred ||
    fail "whoever conducts two hundred agents takes more than docs/cluster.md says"

# What a newcomer types, and the build that it makes.
scripts/run.sh --runs "$runs" | tee "$runs/quick.txt"
for row in gin@quiet webflux-netty-today tomcat-today tomcat-virtual-today; do
    grep -q " $row " "$runs/quick.txt" || fail "make run does not rank $row"
done
first=${CARGO_TARGET_DIR:-target}/first/proofload
code=0
said=$("$first" wrk -s /dev/null -d 1s http://127.0.0.1:1/ 2>&1) || code=$?
[ "$code" -eq 1 ] || fail "a build without Lua ends with $code instead of 1 where a script is given"
case $said in *"without Lua"*) ;; *) fail "a build without Lua does not say so: $said" ;; esac

"$proofload" run experiments/threading-models.toml --runs "$runs" | tee "$runs/ranking.txt"
grep -q 'pool of 16' "$runs/ranking.txt" || fail "the ranking does not name the pool of 16"
dir=$(echo "$runs"/threading-models-*)

# goodput STACK: the median of its goodput on the 100 ms endpoint.
goodput() {
    "$proofload" report "$dir" --json | grep '"round":"sleep 100 ms"' | grep "\"stack\":\"$1\"" |
        grep -o '"goodput_per_s":[0-9.]*' | cut -d: -f2 | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
# within NAME VALUE DUE: within 3 %.
within() {
    awk -v v="$2" -v due="$3" 'BEGIN { d = (v - due) / due; exit !(d <= 0.03 && d >= -0.03) }' ||
        fail "$1 gives $2/s instead of $3/s on the 100 ms endpoint"
}
within target-pool "$(goodput target-pool)" 160
within target-event-loop "$(goodput target-event-loop)" 640

# A proxy holds a socket to its client and may hold one to its upstream, so 10,000 within the usual limit of files.
cat >"$runs/many.toml" <<'EOT'
title = "Proxies at 5000 connections"
blocks = 1
twin = false
control = false
[load]
connections = [5000]
warm_up = "5s"
duration = "5s"
timeout = "60s"
[[round]]
name = "slow"
endpoint = "sleep"
stacks = ["spring-cloud-gateway", "zuul", "nginx-proxy", "nginx-proxy-keepalive", "haproxy"]
with_upstreams = true
EOT
"$proofload" run "$runs/many.toml" --runs "$runs" | tee "$runs/many.txt"
dir=$(echo "$runs"/many-*)
[ "$("$proofload" report "$dir" --json | grep -c '"measured"')" -eq 6 ] || fail "not every proxy was measured at 5000"
if "$proofload" report "$dir" --json | grep -o '"no_free_[a-z]*":[1-9][0-9]*'; then
    fail "the generator ran out of something at 5000 connections"
fi

left=$(pgrep -af "$runs|$PWD/stacks/|proofload-check-" | grep -v "^$$ " || true)
[ -z "$left" ] || fail "processes are left: $left"
echo "acceptance: passed"
