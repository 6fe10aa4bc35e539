#!/usr/bin/env bash
# What Proofload hands on, read by those it is for: HdrHistogram's Java library (interval logs, percentile files),
# Prometheus' parsers (text format, OpenMetrics) and remote-write types, OpenTelemetry's decoder (OTLP). Each must see
# what the record says. JMeter's report generator has a script of its own, scripts/jmeter-compat.sh.
#
# Needs Go, a JDK and Maven (make setup); fetches the libraries once. A quarter of a minute when they are there. The binary
# is that of PROOFLOAD, or the debug build; `make test-slow` runs this with its own.
#
# Exit code: 0 where all agree, 1 where they don't, 3 where it can't be tried here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
hdr=2.2.2
for tool in go java mvn python3; do
    command -v "$tool" >/dev/null || { echo "exports-compat: $tool is missing; make setup installs it" >&2; exit "$cannot"; }
done

target_dir=$(realpath -m "${CARGO_TARGET_DIR:-target}")
proofload=${PROOFLOAD:-$target_dir/debug/proofload}
[ -n "${PROOFLOAD:-}" ] || cargo build --quiet --locked -p proofload
consumers=$target_dir/compat/consumers
jar=$target_dir/compat/HdrHistogram-$hdr.jar
mkdir -p "$target_dir/compat"
(cd scripts/compat/consumers && go mod download) >&2 ||
    { echo "exports-compat: the Go libraries can't be had" >&2; exit "$cannot"; }
(cd scripts/compat/consumers && go build -mod=readonly -o "$consumers" .)
[ -f "$jar" ] || mvn --quiet --batch-mode --strict-checksums org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact="org.hdrhistogram:HdrHistogram:$hdr" -DoutputDirectory="$target_dir/compat" >&2 ||
    { echo "exports-compat: HdrHistogram's library can't be had" >&2; exit "$cannot"; }

work=$(mktemp -d)
server= receiver=
# shellcheck disable=SC2317
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$receiver" ] || kill "$receiver" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

# serve ARGUMENTS…: starts the calibration server, and sets url.
serve() {
    [ -z "$server" ] || { kill "$server"; wait "$server" 2>/dev/null || true; }
    : >"$work/server.log"
    "$proofload" target --listen 127.0.0.1:0 --path /slow=exp:5ms "$@" 2>"$work/server.log" &
    server=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/^serving \(http:[^ ]*\).*/\1/p' "$work/server.log")
        [ -z "$url" ] || return 0
        sleep 0.1
    done
    echo "exports-compat: the calibration server did not start: $(cat "$work/server.log")" >&2
    exit 1
}
# load NAME ARGUMENTS…: a load with all its files. What it ends with is its audit's to say.
load() {
    local name=$1
    shift
    "$proofload" hit -q --json --hlog "$work/$name.hlog" --hgrm "$work/$name.hgrm" "$@" >"$work/$name.json" || [ $? -eq 4 ]
}
# percentiles NAME: what the library makes of the interval log is our percentile file, to the byte.
percentiles() {
    java -cp "$jar" org.HdrHistogram.HistogramLogProcessor -i "$work/$1.hlog" -o "$work/$1.java" >/dev/null
    # Its first line is of the log, and not of the percentiles.
    sed '1{/^#\[Overall/d}' "$work/$1.java.hgrm" | diff -u - "$work/$1.hgrm" >&2 ||
        { echo "exports-compat: HdrHistogram makes other percentiles of $1.hlog than we do" >&2; exit 1; }
    echo "$1: $(grep -c '^ ' "$work/$1.hgrm") lines of percentiles, the same by HdrHistogram $hdr"
}
# listen: starts the receiver, and sets address.
listen() {
    [ -z "$receiver" ] || { kill "$receiver"; wait "$receiver" 2>/dev/null || true; }
    "$consumers" receive "$work/received" >"$work/address" &
    receiver=$!
    for _ in $(seq 100); do
        address=$(head -n 1 "$work/address")
        [ -z "$address" ] || return 0
        sleep 0.1
    done
    echo "exports-compat: the receiver did not start" >&2
    exit 1
}
# metrics NAME RECORD: every consumer sees what the record says.
metrics() {
    local name=$1 record=$2
    listen
    "$proofload" export "$record" --prometheus "$work/$name.prom" --open-metrics "$work/$name.om" \
        --remote-write "http://$address" --otlp "http://$address"
    "$consumers" text "$work/$name.prom" >"$work/$name.text"
    "$consumers" openmetrics "$work/$name.om" >"$work/$name.openmetrics"
    grep '"from":"remote"' "$work/received" >"$work/$name.remote"
    grep '"from":"otlp"' "$work/received" >"$work/$name.otlp"
    python3 scripts/compat/exports.py "$name" "$record" "$work/$name".{text,openmetrics,remote,otlp}
}

serve
load healthy "$url/slow" --rate 500 -c 32 -d 3s
percentiles healthy
metrics healthy "$work/healthy.json"
serve --error-share 0.2
load errors "$url/slow?key=\"1\"" -c 4 -n 500
percentiles errors
metrics errors "$work/errors.json"
serve --never-answer
load silent "$url/slow" -c 4 -d 1s --timeout 300ms
# Of requests without an answer the library knows no percentiles, and we say none.
! grep -q '^ *[0-9]' "$work/silent.hgrm" && grep -q '^#\[Censored = ' "$work/silent.hgrm" ||
    { echo "exports-compat: percentiles of nothing: $(cat "$work/silent.hgrm")" >&2; exit 1; }
metrics silent "$work/silent.json"

cat >"$work/experiment.toml" <<'TOML'
title = "exports, \"quoted\" \\ and ü"
blocks = 2
[load]
connections = [8]
warm_up = "200ms"
duration = "1s"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["target-event-loop", "target-pool"]
TOML
"$proofload" run -q --runs "$work/runs" "$work/experiment.toml" >"$work/run.log" 2>&1 ||
    { echo "exports-compat: the run failed: $(cat "$work/run.log")" >&2; exit 1; }
run=$(echo "$work"/runs/*)
metrics run "$run"
"$proofload" export "$run" --hgrm "$work/percentiles"
cp "$run/trials/0000/response_time.hlog" "$work/trial.hlog"
cp "$work/percentiles/0000.hgrm" "$work/trial.hgrm"
percentiles trial
