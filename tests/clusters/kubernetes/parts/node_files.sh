# shellcheck shell=bash disable=SC2154
# The configuration of a real node's daemons.

write_containerd_config() {  # I
  local n=$dir/nodes/$1
  cat >"$n/containerd.toml" <<TOML
version = 2
root = "$n/containerd"
state = "$n/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "$n/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$n/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  netns_mounts_under_state_dir = true
  # Root in a virtual machine or a container may lack CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$n/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
      Root = "$n/state/runc"
TOML
}

write_network_config() {  # I
  local i=$1 n=$dir/nodes/$1
  cat >"$n/cni/10-bridge.conflist" <<JSON
{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true, "ipMasq": false, "mtu": 1500,
      "ipam": {
        "type": "host-local", "dataDir": "$n/cni-addresses",
        "ranges": [[{"subnet": "$(node_pods "$i").0/24"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    }
  ]
}
JSON
}

write_kubelet_config() {  # I
  local i=$1 n=$dir/nodes/$1 p=$dir/pki
  cat >"$n/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $(node_address "$i")
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $p/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: $p/kubelet-node$i.crt
tlsPrivateKeyFile: $p/kubelet-node$i.key
containerRuntimeEndpoint: unix://$n/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$link/node$i
failCgroupV1: false
failSwapOn: false
clusterDomain: cluster.local
clusterDNS: [$host]
resolvConf: $n/resolv.conf
podLogsDir: $n/pod-logs
volumePluginDir: $n/kubelet/plugins-exec
maxPods: 200
registryPullQPS: 0
serializeImagePulls: false
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
shutdownGracePeriod: 0s
YAML
}

write_kube_proxy_config() {  # I
  local i=$1 n=$dir/nodes/$1 p=$dir/pki
  cat >"$n/kube-proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $p/kube-proxy.kubeconfig}
mode: nftables
clusterCIDR: $pods
hostnameOverride: node$i
bindAddress: $(node_address "$i")
metricsBindAddress: 127.0.0.1:10249
healthzBindAddress: 127.0.0.1:10256
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
YAML
}

write_node_files() {  # I
  local n=$dir/nodes/$1 kind
  mkdir -p "$n"/{cni,kubelet,containerd,state,pod-logs}
  printf 'nameserver %s\n' "$host" >"$n/resolv.conf"
  for kind in containerd network kubelet kube_proxy; do "write_${kind}_config" "$1"; done
}
