#!/usr/bin/env bash
# Real projects of five kinds, from `proofload init` to a passed and a failed gate: what a user does in the first minutes, with
# nothing edited in between. Each is copied to a temporary folder, becomes a git repository, is ranked by a quick look, passes
# its gate; then the commit in NAME.patch makes it slow, and the gate must fail.
#
#   scripts/projects.sh [NAME...]     of scripts/projects [all]
#   scripts/projects.sh FOLDER        any other project, as far as the first ranked result: nobody knows what makes it slow
#
# PROJECTS_LOGS is where the logs go [TARGET_DIR/projects]; PROOFLOAD another binary than that of the release. Packages come from
# the languages' registries. Exit code: 0, 1 where something is not as it should be, 3 where a tool is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cannot=3
# From `init` to the first ranked result, beside what the project's own build takes.
first_ms_max=60000
failed_gate=4
could_not_tell=5

target_dir=${CARGO_TARGET_DIR:-target}
case $target_dir in /*) ;; *) target_dir=$PWD/$target_dir ;; esac
here=$PWD/scripts/projects
logs=${PROJECTS_LOGS:-$target_dir/projects}
mkdir -p "$logs"
logs=$(cd "$logs" && pwd)

say() { printf 'projects: %s\n' "$*"; }
fail() { say "$name: $*; see $log" >&2; exit 1; }

# What init has to see of each: kind, what it asks, what tells that it is up.
expected() {
    case $1 in
        spring-boot) echo 'Spring Boot (pom.xml)|GET /api/items,|GET /actuator/health ' ;;
        express) echo 'Node (package.json)|GET /api/items,|GET /health ' ;;
        gin) echo 'Go (go.mod)|GET /api/v1/items,|GET /healthz ' ;;
        axum) echo 'Rust (Cargo.toml)|GET /api/items,|GET /health ' ;;
        fastapi) echo 'Python (pyproject.toml)|GET /api/items/,|GET /health ' ;;
    esac
}

# The tools that a project takes, and of Debian what brings those that the table of packages does not have.
tools() {
    case $1 in
        spring-boot) echo git mvn javac ;;
        express) echo git node npm ;;
        gin) echo git go ;;
        axum) echo git cargo ;;
        fastapi) echo git python3 ensurepip ;;
        *) echo git ;;
    esac
}
has() { if [ "$1" = ensurepip ]; then python3 -c 'import ensurepip, venv' 2>/dev/null; else command -v "$1" >/dev/null; fi; }
hint() {
    case $1 in
        git) echo "apt-get install git" ;;
        javac) echo "apt-get install openjdk-17-jdk-headless" ;;
        cargo) echo "https://rustup.rs" ;;
        ensurepip) echo "apt-get install python3-venv" ;;
        *) awk -F '|' -v tool="$1" '{ gsub(/^ +| +$/, "", $1); gsub(/ /, "", $2) } $1 == tool { print "apt-get install " $2 }' scripts/packages.txt ;;
    esac
}

work=$(mktemp -d)
running=""
# What proofload started ends with it.
clean_up() {
    if [ -n "$running" ]; then kill "$running" 2>/dev/null || true; wait "$running" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
seconds() { awk -v ms="$1" 'BEGIN { printf "%.1f s", ms / 1000 }'; }
# Names of folders and of what else ran on the machine are nobody's business.
clean() { sed -E -e "s#$work#/tmp#g" -e "s#$proofload #proofload #g" -e 's/( of [0-9]+ cores?) \([^)]*\)/\1/' -e '/^other processes use /d'; }

# told CODE COMMAND...: runs it in the project, and holds how it ends against CODE. What it said is in $said, what it took in $took.
said=$work/said
told() {
    local code=$1 began ended=0
    shift
    began=$(now_ms)
    (cd "$project" && exec "$proofload" "$@") >"$said" 2>&1 </dev/null &
    running=$!
    wait "$running" || ended=$?
    running=""
    took=$(($(now_ms) - began))
    { echo "\$ proofload $*"; clean <"$said"; printf '[ended with %s after %s]\n\n' "$ended" "$(seconds "$took")"; } >>"$log"
    [ "$ended" -eq "$code" ] || fail "proofload $* ended with $ended instead of $code"
}
# Whether it was said.
with() { grep --quiet --fixed-strings -- "$1" "$said" || fail "nothing says: $1"; }
shown() { { echo "\$ $1"; cat; echo; } >>"$log"; }

# The gate of what was committed, then of what NAME.patch makes of it.
gates() {
    told 0 run -q
    with "gate        passed"
    passed=$took
    git -C "$project" apply "$here/$name.patch"
    git -C "$project" diff --unified=1 | tail -n +3 | shown "git diff"
    git -C "$project" commit --quiet --all --message "An answer takes its time"
    told "$failed_gate" run -q
    with "gate        failed"
    with "failed          if p99 > 200ms"
    say "$name: gate passed after $(seconds "$passed"), failed after $(seconds "$took")"
}

# The project in FOLDER, under the name that it is logged by.
try_one() {
    local folder=$1 kind ask ready init_ms built service
    name=$(basename "$folder")
    project=$work/$name
    log=$logs/$name.txt
    : >"$log"
    cp -r "$folder" "$project"
    rm -rf "$project/.git"
    git -C "$project" init --quiet
    git -C "$project" config user.name "A user"
    git -C "$project" config user.email user@shop.example
    printf '.proofload/\nruns/\n' >>"$project/.git/info/exclude"
    git -C "$project" add --all
    git -C "$project" commit --quiet --message "A shop"

    told 0 init
    init_ms=$took
    if [ "$folder" = "$here/$name" ]; then
        IFS='|' read -r kind ask ready < <(expected "$name")
        for what in ", $kind" "$ask" "$ready"; do with "$what"; done
        if grep --quiet CHECK "$said"; then fail "init asks what it could see"; fi
    fi
    service=$(sed -n 's/^service   \([^,]*\),.*/\1/p' "$said")
    shown "cat proofload.toml" <"$project/proofload.toml"
    git -C "$project" add proofload.toml
    git -C "$project" commit --quiet --message "What proofload init wrote"
    told 0 build "$service"
    built=$took
    # A quick look is too short for its gate.
    told "$could_not_tell" run --quick -q
    with " 1  $service"
    [ $((init_ms + took)) -lt "$first_ms_max" ] || fail "the first ranked result took $(seconds $((init_ms + took)))"
    say "$name: ranked after $(seconds $((init_ms + took))), and $(seconds "$built") of its own build"
    if [ -f "$here/$name.patch" ] && [ "$folder" = "$here/$name" ]; then gates; fi
    rm -rf "$project"
}

proofload=${PROOFLOAD:-$target_dir/release/proofload}
[ -n "${PROOFLOAD:-}" ] || cargo build --release --locked -p proofload
proofload=$(realpath "$proofload")
left_out=0
if [ $# -eq 0 ]; then set -- axum express fastapi gin spring-boot; fi
for wanted in "$@"; do
    folder=$wanted
    [ -d "$here/$wanted" ] && folder=$here/$wanted
    [ -d "$folder" ] || { say "there is no project $wanted in scripts/projects, and no such folder" >&2; exit 2; }
    missing=""
    for tool in $(tools "$(basename "$folder")"); do
        has "$tool" || { missing=$tool; break; }
    done
    if [ -n "$missing" ]; then
        say "$wanted: $missing is missing: $(hint "$missing")" >&2
        left_out=$cannot
        continue
    fi
    try_one "$(cd "$folder" && pwd)"
done
exit "$left_out"
