#!/bin/sh
# A node: containerd and the kubelet. The arguments are the folder, the program of this folder, the port of the kubelet and
# the name of the node.
#
# Called in namespaces of its own for mounts and processes (`unshare --mount --pid`): all that it mounts and starts is gone
# when it is killed. The network is that of the test program, so that the kubelet and the API server reach each other.
set -eu
folder=$1 program=$2 port=$3 name=$4
cd "$folder"
mkdir -p cni root state kubelet pki logs
# Where these programs write whatever they are told.
for place in /run/containerd /run/netns /var/lib/kubelet /var/lib/cni /var/log/containers; do
    mkdir -p "$place"
    mount -t tmpfs tmpfs "$place"
done

# Beside the controllers of version 1 there may be an empty tree of version 2, which runc takes for the one to use.
if [ -d /sys/fs/cgroup/memory ]; then umount /sys/fs/cgroup/unified 2>/dev/null || true; fi

cat >cni/10-pods.conflist <<END
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [{ "type": "ptp", "ipMasq": false, "ipam": {
    "type": "host-local", "dataDir": "$folder/addresses", "ranges": [[{ "subnet": "10.123.0.0/16" }]],
    "routes": [{ "dst": "0.0.0.0/0" }] } }] }
END
cat >containerd.toml <<END
version = 2
root = "$folder/root"
state = "$folder/state"
[grpc]
  address = "$folder/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/box:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
END
cat >kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://$folder/containerd.sock
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
address: 127.0.0.1
port: $port
readOnlyPort: 0
healthzPort: 0
failSwapOn: false
oomScoreAdj: 0
evictionHard: { memory.available: 1Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0% }
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
hairpinMode: none
maxPods: 300
podLogsDir: $folder/logs
nodeStatusUpdateFrequency: 1s
nodeLeaseDurationSeconds: 4
syncFrequency: 2s
serializeImagePulls: false
registryPullQPS: 0
eventRecordQPS: 0
END

PATH=$PATH:/usr/sbin:/sbin
containerd --config containerd.toml >containerd.log 2>&1 &
while ! ctr -a containerd.sock version >/dev/null 2>&1; do sleep 0.1; done
for image in images/*; do ctr -a containerd.sock -n k8s.io images import "$image" >>containerd.log 2>&1; done
"$program" kubelet --config=kubelet.yaml --kubeconfig=admin.conf --root-dir="$folder/kubelet" --cert-dir="$folder/pki" \
    --hostname-override="$name" >kubelet.log 2>&1 &
wait
