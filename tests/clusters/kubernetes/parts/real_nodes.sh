# shellcheck shell=bash disable=SC2154
# Real nodes: each has a containerd, a kubelet and a kube-proxy in name spaces of its own.

# prepare_node I starts all of a node that needs no API server, and puts the images into it.
prepare_node() {
  local i=$1 n=$dir/nodes/$1
  write_node_files "$i"
  # One process holds the node's name spaces; every other one joins them. In the node's mount space the places that are
  # not to be chosen are its own.
  # shellcheck disable=SC2016
  launch "node$i" nsenter --net="/run/netns/$(node_netns "$i")" unshare --mount --propagation private --uts -- sh -c '
    set -e
    hostname "$1"
    for place in /var/lib/kubelet /var/lib/cni /var/log/containers /run/containerd; do
      mkdir -p "$place"
      mount -t tmpfs tmpfs "$place"
    done
    mount --make-rshared /
    : >"$2/entered"
    exec sleep infinity' node "node$i" "$n"
  await "node$i" "name spaces of node$i" test -e "$n/entered"
  launch_in_node "$i" containerd env PATH="$PATH:/usr/sbin:/sbin" containerd --config "$n/containerd.toml" --log-level info
  await "containerd-node$i" "answer from containerd" node_ctr "$i" version
  load_into "$i" "$dir"/images/*.tar
}

prepare_nodes() {
  local i nodes=()
  make_images
  for i in $(seq "$real"); do
    prepare_node "$i" &
    nodes+=($!)
  done
  for i in "${nodes[@]}"; do wait "$i" || exit; done
}

start_real_node() {
  local i=$1 n=$dir/nodes/$1
  launch_in_node "$i" kubelet env PATH="$PATH:/usr/sbin:/sbin" "$dir/bin/kube-all" kubelet --config "$n/kubelet.yaml" \
    --kubeconfig "$dir/pki/kubelet-node$i.kubeconfig" --hostname-override "node$i" --node-ip "$(node_address "$i")" \
    --root-dir "$n/kubelet" --cert-dir "$n/kubelet/pki"
  launch_in_node "$i" kube-proxy env PATH="$PATH:/usr/sbin:/sbin" "$dir/bin/kube-all" kube-proxy --config "$n/kube-proxy.yaml"
}

node_ctr() {  # I WORD...
  local i=$1
  shift
  in_node "$i" ctr --address "$dir/nodes/$i/containerd.sock" --namespace k8s.io "$@"
}

load_into() {  # I ARCHIVE...
  local i=$1 archive
  shift
  for archive in "$@"; do
    node_ctr "$i" images import "$(realpath "$archive")" >>"$dir/log/images.log" 2>&1 || die "see $dir/log/images.log"
  done
}

start_dns() {
  cat >"$dir/Corefile" <<CORE
cluster.local:53 in-addr.arpa:53 {
    bind $host
    errors
    ready 127.0.0.1:$((port + 6))
    kubernetes {
        kubeconfig $dir/pki/coredns.kubeconfig
        pods verified
        ttl 2
    }
    cache 2 {
        denial 1000 1
    }
    loadbalance
}
.:53 {
    bind $host
    errors
    template ANY ANY {
        rcode NXDOMAIN
    }
}
CORE
  kubectl apply --server-side -f "$here/dns-access.yaml" >"$dir/log/dns-access.log" 2>&1 ||
    die "see $dir/log/dns-access.log"
  launch coredns "$dir/bin/coredns" -conf "$dir/Corefile"
}

start_real_nodes() {
  local i
  for i in $(seq "$real"); do start_real_node "$i"; done
  start_dns
  for i in $(seq "$real"); do
    await "kubelet-node$i" "ready node$i" kubectl wait --for=condition=Ready "node/node$i" --timeout=5s
    await "kube-proxy-node$i" "kube-proxy of node$i" in_node "$i" curl -fsS http://127.0.0.1:10256/healthz
  done
  await coredns "DNS" curl -fsS "http://127.0.0.1:$((port + 6))/ready"
}
