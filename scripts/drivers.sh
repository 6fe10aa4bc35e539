#!/usr/bin/env bash
# Measures a few cells of each of the five write-ups by our own engine, by the real wrk and by the real JMeter, all three in
# the same block, and writes down what the records say: scripts/drivers.sh [NAME...], into docs/drivers/NAME.txt. Quick
# shapes, one load of each write-up: under a quarter of an hour on two cores for all five.
#
#   scripts/drivers.sh                            the five
#   scripts/drivers.sh gateways                   one of them
#   scripts/drivers.sh virtual-threads-ramp       the write-up's own users who come one by one, which wrk can't make
#   scripts/drivers.sh --no-load                  writes down the last runs again; nothing is measured
set -euo pipefail
cd "$(dirname "$0")/.."

proofload=${CARGO_TARGET_DIR:-target}/release/proofload
runs=runs/drivers
load=yes
if [ "${1-}" = --no-load ]; then
  load=no
  shift
fi
names=("$@")
[ $# -gt 0 ] || names=(servlet-containers springmvc-webflux gateways socket-models virtual-threads-constant)

# What is measured of each: the experiment, the drivers, and which of its cells.
part_of() {
  case $1 in
    servlet-containers) echo servlet-containers all --only stack=tomcat-nio --only stack=undertow ;;
    springmvc-webflux) echo springmvc-webflux all --only round=hello --only stack=springmvc-tomcat --only stack=webflux-netty ;;
    gateways) echo gateways all --only round=api --only stack=nginx-proxy ;;
    socket-models) echo socket-models all --only stack=java-socket-single-thread --only stack=java-socket-fixed-pool ;;
    virtual-threads-constant) echo virtual-threads-constant all --only stack=gin --only stack=springmvc-virtual-boot3 ;;
    virtual-threads-ramp) echo virtual-threads proofload,jmeter --only stack=gin ;;
    *) echo "drivers: there is no $1; name one that this script lists" >&2; exit 2 ;;
  esac
}

mkdir -p docs/drivers
for name in "${names[@]}"; do
  part=$(part_of "$name")
  read -r experiment drivers only <<<"$part"
  if [ "$load" = yes ]; then
    code=0
    # shellcheck disable=SC2086 # several words are meant
    "$proofload" run "experiments/$experiment.toml" --quick --driver "$drivers" $only --runs "$runs/$name" || code=$?
    # 4 is measured, with failures that the report names.
    [ $code -eq 0 ] || [ $code -eq 4 ] || exit $code
  fi
  # The names of runs end in their time.
  run=$(find "$runs/$name" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort | tail -n 1) || run=
  [ -n "$run" ] || { echo "drivers: there is no run in $runs/$name; leave --no-load out" >&2; exit 2; }
  "$proofload" report "$run" | sed '/^Full record:/d' >"docs/drivers/$name.txt"
  echo "drivers: docs/drivers/$name.txt"
done
