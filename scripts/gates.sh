#!/usr/bin/env bash
# What a request costs in figures that do not flake: instructions in user space by callgrind, system calls by strace.
# Each is the difference of two runs of known length, so that set-up cancels out. `make test-all` runs it.
#
#   scripts/gates.sh [KEEP]      KEEP: where profiles go [default: TARGET_DIR/gates]
#
# Exit code: 1 above a bound, 3 if a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# The target is 400; the bound keeps what is reached.
instructions_target=400
instructions_max=680
# Of the build that `make run` makes first, which is quick to compile and not to run.
instructions_max_first=1360
# Over HTTP/2 without TLS, at 8 connections of 32 streams.
instructions_max_h2=900
calls_max_epoll=2.1
calls_max_uring=0.1
requests_short=5000
requests_long=25000
# Fewer would be answered before the client waits again, and the calls that wait count.
connections=1000
# The kernel's number of what the epoll driver waits with; valgrind 3.19 does not know it.
epoll_pwait2=441

target_dir=${CARGO_TARGET_DIR:-target}
case $target_dir in /*) ;; *) target_dir=$PWD/$target_dir ;; esac
proofload=$target_dir/release/proofload
keep=${1:-$target_dir/gates}
server=""
nginx=""
# What the counted client is started with.
behind=()

say() { printf 'gates: %s\n' "$*"; }
fail() { printf 'gates: %s\n' "$*" >&2; exit 1; }
# How to get a tool, by the table of packages.
hint() { awk -F '|' -v tool="$1" '{ gsub(/^ +| +$/, "", $1); gsub(/ /, "", $2) } $1 == tool { print "apt-get install " $2 }' scripts/packages.txt; }
for tool in valgrind strace nginx; do
    command -v "$tool" >/dev/null || { say "$tool is missing: $(hint "$tool")" >&2; exit 3; }
done

mkdir -p "$keep"
rm -f "$keep"/callgrind.* "$keep"/strace.*
cargo build --release --locked -p proofload
stop_server() {
    local pid
    for pid in $server $nginx; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}
trap stop_server EXIT
trap 'exit 130' INT TERM
"$proofload" target --listen 127.0.0.1:0 2>"$keep/server.log" &
server=$!
url=""
for _ in $(seq 50); do
    url=$(sed -n 's|^serving \(http://[^ ]*\).*|\1/hello|p' "$keep/server.log")
    [ -n "$url" ] && break
    sleep 0.1
done
[ -n "$url" ] || fail "the target does not start: $(cat "$keep/server.log")"

# load BINARY REQUESTS [OPTION…]: the arguments of a run. Under these tools a request takes long, so nothing may time out.
load() { local binary=$1 requests=$2; shift 2; echo "$binary hit $url -c $connections -n $requests -t 1 --timeout 60s --quiet --json $*"; }
# difference SHORT LONG: a request.
difference() { awk -v short="$1" -v long="$2" -v n=$((requests_long - requests_short)) 'BEGIN { printf "%.3f", (long - short) / n }'; }
# at_most VALUE BOUND
at_most() { awk -v value="$1" -v bound="$2" 'BEGIN { exit !(value <= bound) }'; }

# instructions NAME BINARY [OPTION…]: prints those of all threads but the first, which keeps the books once a second
# whatever the load. Clock reads count as calls here, since valgrind hides the vDSO.
instructions() {
    local name=$1 binary=$2 requests out; shift 2
    local sums=()
    for requests in $requests_short $requests_long; do
        out=$keep/callgrind.$name.$requests
        # shellcheck disable=SC2046 # words are what is wanted
        "${behind[@]}" valgrind --tool=callgrind --separate-threads=yes --callgrind-out-file="$out" \
            $(load "$binary" "$requests" "$@") >"$out.json" 2>"$out.log" </dev/null || true
        if ! grep -q "\"answered\": $requests,\$" "$out.json"; then
            if grep -q "unhandled.*syscall: $epoll_pwait2\$" "$out.log"; then return 2; fi
            cat "$out.log" >&2
            return 1
        fi
        sums+=("$(cat "$out"-0[2-9] | awk '/^totals:/ { sum += $2 } END { print sum }')")
    done
    difference "${sums[@]}"
}

# The profile to look into: that of the thread with the most instructions in the long run.
profile() { grep -H '^totals:' "$keep/callgrind.$1.$requests_long"-0[2-9] | sort -t' ' -k2 -n | tail -n 1 | cut -d: -f1; }

# The release build but for one thing: it waits with epoll_pwait, to the millisecond, which every valgrind knows.
build_for_old_valgrind() {
    local copy=$target_dir/gates/source
    rm -rf "$copy"
    mkdir -p "$copy"
    cp -r Cargo.toml Cargo.lock crates bench planted xtask scripts "$copy"
    # Pages that the binary holds, and what it prints.
    cp -r --parents web/dist web/live docs/kubernetes "$copy"
    sed -i 's/"linux_5_11", //' "$copy/Cargo.toml"
    cargo build --release --locked --quiet --manifest-path "$copy/Cargo.toml" --target-dir "$target_dir/gates/build" -p proofload
}

broken=false
# hold WHAT VALUE BOUND HINT
hold() {
    if at_most "$2" "$3"; then say "$1: $2 (at most $3)"; else
        printf 'gates: %s: %s, above %s by %s; %s\n' "$1" "$2" "$3" "$(awk -v v="$2" -v b="$3" 'BEGIN { printf "%.2f", v - b }')" "$4" >&2
        broken=true
    fi
}

# The least of so many counts is held to the bound.
counts=1
# least_instructions NAME BINARY [OPTION…]: the least of `counts`.
least_instructions() {
    local figure least=
    for _ in $(seq "$counts"); do
        figure=$(instructions "$@") || return $?
        if [ -z "$least" ] || at_most "$figure" "$least"; then least=$figure; fi
    done
    echo "$least"
}

gate_instructions() {
    local name=$1 figure code=0; shift
    figure=$(least_instructions "$name" "$proofload" "$@") || code=$?
    if [ $code -eq 2 ]; then
        say "$(valgrind --version) does not know epoll_pwait2; building the same with epoll_pwait for it"
        build_for_old_valgrind
        code=0
        figure=$(least_instructions "$name" "$target_dir/gates/build/release/proofload" "$@") || code=$?
    fi
    [ $code -eq 0 ] || fail "valgrind could not run the $name driver; see $keep"
    hold "$name: instructions a request in user space" "$figure" $instructions_max "callgrind_annotate $(profile "$name")"
    if ! at_most "$figure" $instructions_target; then say "$name: above the target of $instructions_target instructions"; fi
}

gate_calls() {
    local name=$1 bound=$2 requests out; shift 2
    local sums=()
    for requests in $requests_short $requests_long; do
        out=$keep/strace.$name.$requests
        # shellcheck disable=SC2046
        # 4: under strace the client is the limit, and says so.
        strace -f -c -o "$out" $(load "$proofload" "$requests" "$@") >"$out.json" </dev/null || [ $? -eq 4 ]
        grep -q "\"answered\": $requests,\$" "$out.json" || fail "strace: not every request was answered; see $out.json"
        sums+=("$(awk '$NF == "total" { print $4 }' "$out")")
    done
    hold "$name: system calls a request" "$(difference "${sums[@]}")" "$bound" "they are counted in $keep/strace.$name.$requests_long"
}

# Over HTTP/2, beside nginx. How many answers come at once decides what each costs. Where both have a core it hangs on which of
# them is quicker, and valgrind makes the client slow. On one core it hangs on whether the first answer wakes the client before
# nginx wrote the next, which kernels decide differently. A client that runs only while
# nothing else wants the core gets all that nginx has to answer, on any of them.
gate_h2() {
    local url cores connections=8 counts=3 instructions_max=$instructions_max_h2 port=18980 dir=$keep/nginx
    mkdir -p "$dir"
    cat >"$dir/nginx.conf" <<CONF
daemon off; master_process off; pid $dir/pid; error_log $dir/error.log;
events { worker_connections 4096; }
http {
    access_log off; keepalive_requests 100000000;
    client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f; uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;
    server { listen 127.0.0.1:$port http2; location / { return 200 hello; } }
}
CONF
    cores=$(taskset -pc $$ | sed 's/.*: //')
    taskset -pc "${cores%%[,-]*}" $$ >/dev/null
    nginx -e "$dir/error.log" -p "$dir" -c "$dir/nginx.conf" &
    nginx=$!
    url=http://127.0.0.1:$port/
    for _ in $(seq 50); do
        if "$proofload" hit "$url" --http2-prior-knowledge -c 1 -n 1 --quiet --json >/dev/null 2>&1; then break; fi
        sleep 0.1
    done
    kill -0 "$nginx" 2>/dev/null || fail "nginx did not come up at port $port; see $dir/error.log"
    behind=(chrt --idle 0)
    gate_instructions h2c --io uring --http2-prior-knowledge --streams 32
    behind=()
    taskset -pc "$cores" $$ >/dev/null
}

if "$proofload" hit --help | grep -- '--io ' >/dev/null; then
    gate_instructions epoll --io epoll
    gate_calls epoll $calls_max_epoll --io epoll
    gate_instructions uring --io uring
    gate_calls uring $calls_max_uring --io uring
    gate_h2
    cargo build --profile first --locked -p proofload --no-default-features
    figure=$(instructions uring-first "$target_dir/first/proofload" --io uring) || fail "valgrind could not run the build of make run; see $keep"
    hold "uring, as make run builds it: instructions a request in user space" "$figure" $instructions_max_first \
        "callgrind_annotate $(profile uring-first)"
else
    gate_instructions epoll
    gate_calls epoll $calls_max_epoll
    say "io_uring: left out, proofload hit has no --io"
fi
if $broken; then exit 1; fi
