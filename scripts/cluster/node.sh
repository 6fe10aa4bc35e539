#!/usr/bin/env bash
# One node, as the first process of its own namespaces: containerd and a kubelet. Started by up.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
i=$1 dir=$run/node$1
export PATH=$home/root/usr/bin:$home/root/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin
hostname "n$i"
mount --make-rshared /
mkdir -p "$dir"/{varlib/kubelet,varlib/containerd,varlog,cni}
mount --bind "$dir/varlib" /var/lib
mount --bind "$dir/varlog" /var/log
mount -t tmpfs tmpfs /run
mkdir -p /run/containerd
# A kubelet sets these for the whole machine; it is shown files that hold what it wants.
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
    file=$dir/sysctl-$(basename "${setting%=*}")
    echo "${setting#*=}" > "$file"
    mount --bind "$file" "/proc/sys/${setting%=*}"
done
# A root for its cgroups: one in each hierarchy of version 1, or one in version 2.
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    echo "+cpu +cpuset +memory +pids +io" > /sys/fs/cgroup/cgroup.subtree_control || true
    mkdir -p "/sys/fs/cgroup/$prefix-n$i"
    echo "+cpu +cpuset +memory +pids +io" > "/sys/fs/cgroup/$prefix-n$i/cgroup.subtree_control" || true
else
    for tree in /sys/fs/cgroup/*/; do
        [ "$(basename "$tree")" = unified ] && continue
        mkdir -p "$tree$prefix-n$i"
        for part in cpuset.cpus cpuset.mems; do
            [ -f "$tree$part" ] && cat "$tree$part" > "$tree$prefix-n$i/$part"
        done
    done
fi
cat > "$dir/cni/10-bridge.conflist" <<JSON
{"cniVersion":"0.4.0","name":"pods","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":false,
 "ipam":{"type":"host-local","ranges":[[{"subnet":"10.77.$i.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
JSON
# Without CAP_SYS_RESOURCE nobody's out-of-memory score may be lowered: restrict_oom_score_adj.
cat > "$dir/containerd.toml" <<TOML
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$home/root/usr/lib/cni"
    conf_dir = "$dir/cni"
[plugins."io.containerd.internal.v1.opt"]
  path = "$dir/opt"
TOML
cat > "$dir/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$prefix-n$i
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
address: 10.66.0.1$i
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
enforceNodeAllocatable: [pods]
evictionHard: {memory.available: 100Mi}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
nodeStatusUpdateFrequency: 4s
nodeLeaseDurationSeconds: 10
clusterDomain: cluster.local
clusterDNS: [10.88.0.10]
resolvConf: ""
healthzBindAddress: 127.0.0.1
YAML
containerd -c "$dir/containerd.toml" > "$run/containerd$i.log" 2>&1 &
until [ -S /run/containerd/containerd.sock ] && ctr -n k8s.io version >/dev/null 2>&1; do sleep 0.2; done
for image in "$home"/img/*.tar; do ctr -n k8s.io images import "$image"; done
"$bin/kubelet" --config="$dir/kubelet.yaml" --kubeconfig="$run/pki/n$i.kubeconfig" --hostname-override="n$i" \
    --node-ip="10.66.0.1$i" --root-dir=/var/lib/kubelet --cert-dir="$dir/certs" > "$run/kubelet$i.log" 2>&1 &
wait
