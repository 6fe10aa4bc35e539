#!/usr/bin/env bash
# The same test plan by real JMeter and by `proofload jmeter`, and JMeter's own report generator on the results of both: each
# must find all of the samples and no error. The plan is a JMeter user's of the write-up on virtual threads; the server is
# ours, with the write-up's 150 ms. And the generator on the rows of `proofload hit --jtl`, a fifth of which are errors.
#
#   scripts/jmeter-compat.sh                      50 users, ramp-up 1 s, 20 loops: a quarter of a minute
#   scripts/jmeter-compat.sh 1000 50 1000         the write-up's own load: some seven minutes
#
# Needs the JMeter that the tests assemble (make test-slow). Exit code: 0 where all is found, 1 where it isn't, 3 where it can't
# be tried here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
users=${1:-50} ramp=${2:-1} loops=${3:-20}
plan=crates/jmeter/tests/plans/virtual-threads.jmx
jmeter=stacks/_builds/jmeter/build/bin/ApacheJMeter.jar
[ -f "$jmeter" ] || { echo "jmeter-compat: JMeter is not assembled; make test-slow does it" >&2; exit "$cannot"; }
proofload=${PROOFLOAD:-${CARGO_TARGET_DIR:-target}/release/proofload}
[ -x "$proofload" ] || { echo "jmeter-compat: $proofload is missing; make build makes it" >&2; exit "$cannot"; }

work=$(mktemp -d)
server=
# shellcheck disable=SC2317
clean_up() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"; }
trap clean_up EXIT

# The port of the server that was just started.
listening() {
    local port
    for _ in $(seq 100); do
        port=$(sed -n 's/^serving http:[^ ]*:\([0-9]*\).*/\1/p' "$work/server.log")
        [ -z "$port" ] || { echo "$port"; return 0; }
        sleep 0.1
    done
    echo "jmeter-compat: the server did not start: $(cat "$work/server.log")" >&2
    exit 1
}

"$proofload" target --listen 127.0.0.1:0 --path /slowAPI=150ms 2>"$work/server.log" &
server=$!
port=$(listening)

# The CPU time that a command and its children took, seconds.
timed() { /usr/bin/env bash -c 'TIMEFORMAT="%U %S %R"; time "$@" >/dev/null 2>&1' -- "$@"; }

# generate WHO SAMPLES ERRORS [CPU]: JMeter's report generator finds so many samples and errors in the results of WHO.
generate() {
    java -jar "$jmeter" -g "$work/$1.jtl" -o "$work/$1" -j "$work/report.log" >"$work/report.out" 2>&1 ||
        { echo "jmeter-compat: JMeter's report generator does not take the results of $1:" >&2; cat "$work/report.out" >&2; exit 1; }
    python3 - "$1" "$work/$1/statistics.json" "$2" "$3" "${4:-}" <<'PYTHON'
import json, sys
who, path, wanted, errors = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
total = json.load(open(path))["Total"]
cpu = ""
if sys.argv[5]:
    user, system, wall = map(float, sys.argv[5].split()[-3:])
    cpu = f"; {(user + system) / wanted * 1e6:.0f} us of CPU a request, {wall:.0f} s"
print(f"{who:<9}  {total['sampleCount']} samples, {total['errorCount']} errors, {total['throughput']:.0f}/s, mean "
      f"{total['meanResTime']:.1f} ms, p99 {total['pct3ResTime']:.0f} ms, max {total['maxResTime']:.0f} ms{cpu}")
if (total["sampleCount"], total["errorCount"]) != (wanted, errors):
    sys.exit(f"jmeter-compat: {wanted} samples with {errors} errors were wanted")
PYTHON
}

arguments=(-n -t "$plan" -Jhost=127.0.0.1 -Jport="$port" -Jusers="$users" -Jramp="$ramp" -Jloops="$loops")
columns=(response_message thread_name data_type latency idle_time connect_time sent_bytes thread_counts url)
save=(-Jjmeter.save.saveservice.output_format=csv -Jjmeter.save.saveservice.print_field_names=true)
for column in "${columns[@]}"; do save+=("-Jjmeter.save.saveservice.$column=true"); done
echo "$users users, ramp-up $ramp s, $loops loops"
for who in jmeter proofload; do
    case $who in
    jmeter) command=(java -jar "$jmeter" "${arguments[@]}" "${save[@]}" -j "$work/jmeter.log") ;;
    proofload) command=("$proofload" jmeter "${arguments[@]}") ;;
    esac
    cpu=$({ timed "${command[@]}" -l "$work/$who.jtl"; } 2>&1)
    generate "$who" "$((users * loops))" 0 "$cpu"
done

kill "$server"
wait "$server" 2>/dev/null || true
: >"$work/server.log"
"$proofload" target --listen 127.0.0.1:0 --error-share 0.2 2>"$work/server.log" &
server=$!
port=$(listening)
"$proofload" hit "http://127.0.0.1:$port/hello" -q --json -c 20 -n 5000 --jtl "$work/hit.jtl" >"$work/hit.json" || [ $? -eq 4 ]
read -r samples errors < <(python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
print(result["intended"], result["intended"] - result["answered_as_expected"])' "$work/hit.json")
generate hit "$samples" "$errors"
