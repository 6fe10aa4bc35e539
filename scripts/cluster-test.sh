#!/usr/bin/env bash
# Loads from pods, tried on a real Kubernetes of three nodes, which is booted on this machine (scripts/cluster/) and ended
# again. What was said is written to cluster.txt in CLUSTER_HOME.
#
#   scripts/cluster-test.sh
#
# CLUSTER_HOME keeps the built Kubernetes from one run to the next (target/cluster). Exit code: 0, 1 where something is not as
# it should be, 3 where this machine can't boot one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CLUSTER_HOME=${CLUSTER_HOME:-$PWD/${CARGO_TARGET_DIR:-target}/cluster}
control=plk-cp
image=localhost/proofload:test
say() { printf 'cluster-test: %s\n' "$*"; }
cannot() { say "$*" >&2; exit 3; }

[ "$(id -u)" = 0 ] || cannot "wants root, for namespaces"
for tool in go apt-get dpkg ip nsenter unshare openssl python3 strip; do
    command -v "$tool" >/dev/null || cannot "wants $tool"
done
# Whoever may make no namespaces finds out before a build of minutes.
unshare --mount --pid --fork true 2>/dev/null || cannot "namespaces can't be made here"

mkdir -p "$CLUSTER_HOME"
scripts/cluster/build.sh "$CLUSTER_HOME" || cannot "Kubernetes could not be fetched or built"
# What the tests run, too, with the libraries that it is linked with: a static one would be compiled from nothing.
cargo build --locked --workspace --bin proofload
# A copy, for pods and for whoever conducts them: a build meanwhile would make them two versions.
proofload=$CLUSTER_HOME/proofload
strip -o "$proofload" "${CARGO_TARGET_DIR:-target}/debug/proofload"
mapfile -t libraries < <(ldd "$proofload" | grep -o '/[^ ]*' | sed 's/.*/&=&/')
scripts/cluster/mkimg.py "$CLUSTER_HOME/img/proofload.tar" "$image" /proofload "$proofload=/proofload" "${libraries[@]}"

trap 'scripts/cluster/down.sh' EXIT
scripts/cluster/up.sh
run=$CLUSTER_HOME/run
in_control() { nsenter --net="/run/netns/$control" "$@"; }
kubectl() { in_control "$CLUSTER_HOME/bin/kubectl" --kubeconfig="$run/pki/admin.kubeconfig" "$@"; }
failed=0
log=$CLUSTER_HOME/cluster.txt
: > "$log"

# Whether no Job and no pod is left, after so many seconds at most: a cluster that was hurt takes its time to remove them.
patience_s=0
is_clean() {
    local until=$((SECONDS + patience_s))
    while [ -n "$(kubectl get jobs,pods -A -l proofload.dev/run -o name)" ]; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 1
    done
}

# CODE PART ARGUMENTS…: `proofload hit` with these, or another COMMAND of it, must end with the code and say the part. No Job
# and no pod may be left. It is interrupted after INTERRUPTED_S, where that is set.
expect() {
    local code=$1 part=$2 got=0 command=${command:-hit}
    shift 2
    printf '$ proofload %s %s\n' "$command" "$*" | tee -a "$log"
    in_control env KUBECONFIG="${config:-$run/pki/admin.kubeconfig}" timeout --foreground --signal INT --kill-after 30 \
        "${interrupted_s:-180}" env --default-signal=INT "$proofload" "$command" "$@" >"$run/out" 2>&1 || got=$?
    tee -a "$log" < "$run/out"
    printf 'exit code %s\n\n' "$got" | tee -a "$log"
    [[ $got =~ ^($code)$ ]] || { say "ended with $got and not $code"; failed=1; }
    grep -qF -- "$part" "$run/out" || { say "does not say: $part"; failed=1; }
    is_clean || { say "left something behind"; failed=1; }
}

# ARGUMENTS…: `proofload hit` with these is killed after seven seconds, as nothing can be that ends in good order.
killed() {
    printf '$ proofload hit %s\n' "$*" | tee -a "$log"
    # That it was killed is no failure of this script.
    in_control env KUBECONFIG="$run/pki/admin.kubeconfig" timeout --signal KILL 7 \
        "$proofload" hit "$@" >"$run/out" 2>&1 || true
    tee -a "$log" < "$run/out"
    printf 'killed\n\n' | tee -a "$log"
}

account() { # NAME: a kubeconfig of this service account
    local token
    token=$(kubectl create token "$1" -n load)
    sed "s/\"token\":\"[^\"]*\"/\"token\":\"$token\"/" "$run/pki/admin.kubeconfig" > "$run/$1.kubeconfig"
    echo "$run/$1.kubeconfig"
}

# A server of our own in a pod, and a namespace that admits restricted pods alone.
kubectl create namespace load >/dev/null
kubectl label namespace load pod-security.kubernetes.io/enforce=restricted >/dev/null
kubectl create namespace small >/dev/null
kubectl create quota few -n small --hard=pods=1 >/dev/null
# On the first node, since the third is killed at the end.
kubectl run target --image="$image" --image-pull-policy=Never --overrides='{"apiVersion":"v1","spec":{"nodeName":"n1"}}' \
    -- target --listen 0.0.0.0:8080 >/dev/null
kubectl wait --for=condition=Ready pod/target --timeout=60s >/dev/null
url=http://$(kubectl get pod target -o jsonpath='{.status.podIP}'):8080/
kubectl wait --for=create serviceaccount/default -n load --timeout=30s >/dev/null
kubectl run guarded -n load --image="$image" --image-pull-policy=Never --overrides='{"apiVersion":"v1","spec":{"nodeName":"n1",
    "securityContext":{"runAsNonRoot":true,"runAsUser":1000,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"guarded",
    "image":"'"$image"'","imagePullPolicy":"Never","args":["target","--listen","0.0.0.0:8080"],
    "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}' >/dev/null
kubectl wait --for=condition=Ready pod/guarded -n load --timeout=60s >/dev/null
guarded_url=http://$(kubectl get pod guarded -n load -o jsonpath='{.status.podIP}'):8080/
for namespace in load small; do
    kubectl wait --for=create serviceaccount/default -n "$namespace" --timeout=30s >/dev/null
done
on=(--on kubernetes)
pods=(--pods 3 --image "$image" --cpu 500m --memory 128Mi)

# A whole cluster on one machine: that requests go out late (exit code 4) is nobody's fault. None may be missing, or twice.
measured='0|4'
expect "$measured" "outcomes    1500 answered (200: 1500)" "$url" --rate 300 -c 6 -d 5s --namespace load "${pods[@]}" "${on[@]}"
# The begin is agreed on closely enough, and the machines say so.
bound_us=$(sed -n 's/^agents .* begun within ±\([0-9.]*\)us of each other.*/\1/p' "$run/out")
awk -v bound="${bound_us:-9999}" 'BEGIN { exit !(bound <= 1000) }' \
    || { say "they begin within more than a millisecond: ${bound_us:-not told in us}"; failed=1; }
expect 4 "throttled: agent " "$url" -c 30 -d 5s --namespace load --pods 3 --image "$image" --cpu 100m --memory 128Mi "${on[@]}"
interrupted_s=12 expect 124 "verdict     interrupted" "$url" --rate 300 -c 6 -d 60s --namespace load "${pods[@]}" "${on[@]}"

# What metrics-server tells of the server's pod, held against what the kernel counted for it meanwhile.
kubectl wait --for=condition=Available apiservice/v1beta1.metrics.k8s.io --timeout=60s >/dev/null
uid=$(kubectl get pod target -o jsonpath='{.metadata.uid}')
cpu_s() {
    local counted
    # Of control groups of version 1, or of version 2.
    counted=$(find /sys/fs/cgroup -path "*/pod$uid/cpuacct.usage" -print -quit)
    if [ -n "$counted" ]; then
        awk '{ print $1 / 1e9 }' "$counted"
    else
        awk '$1 == "usage_usec" { print $2 / 1e6 }' "$(find /sys/fs/cgroup -path "*/pod$uid/cpu.stat" -print -quit)"
    fi
}
before_s=$(cpu_s) begun_s=$SECONDS
expect "$measured" "server pods 1 of run=target in default" "$url" --rate 4000 -c 12 -d 90s --namespace load "${pods[@]}" "${on[@]}" \
    --watch metrics --watch-pods run=target --watch-namespace default
kernel_cores=$(awk -v used="$(cpu_s)" -v before="$before_s" -v seconds="$((SECONDS - begun_s))" \
    'BEGIN { printf "%.3f", (used - before) / seconds }')
told_cores=$(sed -n 's/^ *target: \([0-9.]*\) cores on average, .* at most; [3-9] samples$/\1/p' "$run/out")
say "metrics-server tells of ${told_cores:-no} cores of the server, the kernel of $kernel_cores, pods that start and end included"
# The kernel's is of a time that begins before the load does, and ends behind it.
awk -v told="${told_cores:-0}" -v kernel="$kernel_cores" 'BEGIN { exit !(told >= 0.85 * kernel && told <= 1.6 * kernel) }' \
    || { say "that is not what the kernel says"; failed=1; }

# The same from within the pod, and then from within one that is restricted, by somebody who may do that and a load and no more.
# Of what the kernel counted for the pod, that of the container that looks is a small part.
before_s=$(cpu_s)
expect "$measured" "each keeps proofload-watch-" "$url" --rate 4000 -c 12 -d 20s --namespace load "${pods[@]}" "${on[@]}" \
    --watch pods --watch-pods run=target --watch-namespace default
told_s=$(sed -n 's/^ *target: \([0-9.]*\) cores, .*/\1/p' "$run/out" | awk '{ print $1 * 20 }')
kernel_s=$(awk -v used="$(cpu_s)" -v before="$before_s" 'BEGIN { print used - before }')
say "from within, ${told_s:-no} s of CPU are seen in 20 s; the kernel counted $kernel_s s for the pod from before the load to behind it"
awk -v told="${told_s:-0}" -v kernel="$kernel_s" 'BEGIN { exit !(told >= 0.75 * kernel && told <= 1.03 * kernel) }' \
    || { say "that is not what the kernel says"; failed=1; }
grep -q '^ *connections at port 8080: ' "$run/out" || { say "its sockets are not told"; failed=1; }
kubectl apply -n load -f docs/kubernetes/rbac.yaml >/dev/null
kubectl apply -n load -f docs/kubernetes/rbac-watch-pods.yaml >/dev/null
config=$(account proofload) expect 3 "you may not patch pods/ephemeralcontainers" "$guarded_url" -c 6 -d 3s --namespace load "${pods[@]}" "${on[@]}" \
    --watch pods --watch-pods run=guarded
kubectl create rolebinding both -n load --role proofload-watch-pods --serviceaccount load:proofload >/dev/null
config=$(account proofload) expect "$measured" "busiest threads: " "$guarded_url" --rate 300 -c 6 -d 5s --namespace load "${pods[@]}" "${on[@]}" \
    --watch pods --watch-pods run=guarded
! grep -q 'bytes written to disks' "$run/out" || { say "it is not the user of the server"; failed=1; }

# A run of what runs in the cluster: several loads of the same pods, and then of none.
mkdir -p "$run/lab/stacks/shop"
printf 'title = "shop"\nurl = "%s"\n[[endpoint]]\nname = "hello"\npath = "/hello"\nbody = "hello"\n' "${url%/}" \
    > "$run/lab/stacks/shop/stack.toml"
cat > "$run/lab/few.toml" <<'TOML'
title = "from pods"
blocks = 1
blocks_max = 1
control = false
bursts = { length = "500ms", pause = "100ms", least = 3, most = 3, settle = "200ms" }
[load]
connections = [6]
warm_up = "steady"
duration = "2s"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["shop"]
TOML
rm -rf "$run/lab/runs"
command=run expect 0 "The loads came from 3 agents, on other machines than the servers: pod 0 of context" "$run/lab/few.toml" \
    --stacks "$run/lab/stacks" --runs "$run/lab/runs" --namespace load "${pods[@]}" "${on[@]}"

expect 2 "has no context" "$url" --context other "${pods[@]}" "${on[@]}"
expect 3 "cannot be had" "$url" --namespace load --pods 2 --image localhost/nothing:1 "${on[@]}"
expect 3 "exceeded quota" "$url" --namespace small "${pods[@]}" "${on[@]}"
expect 3 "Insufficient cpu" "$url" --namespace load --pods 3 --image "$image" --cpu 900 -t 1 --ready-timeout 5s "${on[@]}"
expect 3 "cannot connect to" "${url%:*}:9/" --namespace load "${pods[@]}" "${on[@]}"
expect 3 "there is no namespace" "$url" --namespace nowhere "${pods[@]}" "${on[@]}"

# Somebody who may do nothing, and then what the file allows and no more.
kubectl apply -n load -f docs/kubernetes/rbac.yaml >/dev/null
config=$(account default) expect 3 "you may not create jobs.batch" "$url" --namespace load "${pods[@]}" "${on[@]}"
config=$(account proofload) expect "$measured" "outcomes    600 answered (200: 600)" "$url" --rate 300 -c 6 -d 2s --namespace load "${pods[@]}" "${on[@]}"

# Whoever conducts is killed, and the load is taken over at once: it goes on. Then again, and after half a minute, when its
# agents have ended it.
ledger=$run/ledger
rm -rf "$ledger"
killed "$url" --rate 300 -c 6 -d 20s --namespace load "${pods[@]}" "${on[@]}" --ledger "$ledger"
expect "$measured" "outcomes    6000 answered (200: 6000)" --resume "$ledger"
rm -rf "$ledger"
killed "$url" --rate 300 -c 6 -d 300s --namespace load "${pods[@]}" "${on[@]}" --ledger "$ledger"
sleep 35
expect 130 "ended its load by itself after" --resume "$ledger"

# Waits until the load that begins next has told its third second, a minute at most: pods take their time to start.
under_way() {
    for _ in $(seq 300); do
        ! grep -q '^3 s of ' "$run/out" || return 0
        sleep 0.2
    done
}

# The API server is killed during a load, and comes back after ten seconds.
: > "$run/out"
( under_way; kill -9 "$(cat "$run/apiserver.pid")"; sleep 10; scripts/cluster/apiserver.sh ) >/dev/null 2>&1 &
killer=$!
patience_s=60 expect "$measured" "outcomes    6000 answered (200: 6000)" "$url" --rate 300 -c 6 -d 20s --namespace load "${pods[@]}" "${on[@]}"
wait "$killer"
# What was not heard of meanwhile is tainted, and pods are sent away from there until it is known to be well.
kubectl wait --for=condition=Ready nodes --all --timeout=60s >/dev/null
for _ in $(seq 60); do
    kubectl get nodes -o jsonpath='{.items[*].spec.taints[*].effect}' | grep -q NoExecute || break
    sleep 1
done

# A machine dies.
: > "$run/out"
( under_way; scripts/cluster/kill-node.sh 3 ) >/dev/null 2>&1 &
killer=$!
expect 4 "lost agent" "$url" --rate 300 -c 6 -d 25s --namespace load "${pods[@]}" "${on[@]}"
wait "$killer"
# Its stream broke, and that is told at once; that it is lost, when it could have come back no more.
awk '/ s of 25/ { second = $1 } / is not heard of: / { told = second + 1 } END { exit !(told && told <= 14) }' "$run/out" \
    || { say "does not say within ten seconds that an agent is missing"; failed=1; }
sum=$(sed -n 's/^outcomes *\([0-9]*\) answered ([^)]*), \([0-9]*\) lost$/\1 + \2/p' "$run/out")
[ "$((${sum:-0}))" = 7500 ] || { say "not all of 7500 requests are told of: $sum"; failed=1; }

# Where it was tried is nobody's concern.
sed -i "s|$CLUSTER_HOME|CLUSTER_HOME|g" "$log"
[ "$failed" = 0 ] && say "all is as it should be; see $log"
exit "$failed"
