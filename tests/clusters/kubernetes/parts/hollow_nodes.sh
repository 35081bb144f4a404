# shellcheck shell=bash disable=SC2154
# Nodes that are kept alive in the API only, by kwok.

hollow_nodes_ready() {
  [ "$(kubectl get nodes -l hollow=true --no-headers | awk '$2 == "Ready"' | wc -l)" -ge "$hollow" ]
}

hollow_node() {  # NUMBER TAINTS
  local resources='{"cpu":"32","memory":"256Gi","pods":"250","nvidia.com/gpu":"8"}'
  printf '%s\n' "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"hollow-$1\",
    \"labels\":{\"kubernetes.io/hostname\":\"hollow-$1\",\"kubernetes.io/os\":\"linux\",\"kubernetes.io/arch\":\"amd64\",
      \"hollow\":\"true\"},
    \"annotations\":{\"kwok.x-k8s.io/node\":\"fake\",\"node.alpha.kubernetes.io/ttl\":\"0\"}},
    \"spec\":{\"taints\":$2},\"status\":{\"allocatable\":$resources,\"capacity\":$resources}}" '---'
}

start_hollow_nodes() {
  local p=$dir/pki i taints='[]'
  if [ "$real" -gt 0 ]; then taints='[{"key":"hollow","value":"true","effect":"NoSchedule"}]'; fi
  # All hollow pods have one log, in the format of container runtimes, which can be added to while they "run".
  echo "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ) stdout F this pod runs on a hollow node" >"$dir/hollow.log"
  {
    cat "$here/hollow.yaml"
    printf '%s\n' --- 'apiVersion: kwok.x-k8s.io/v1alpha1' 'kind: ClusterLogs' 'metadata: {name: hollow}' \
      "spec: {logs: [{logsFile: \"$dir/hollow.log\", follow: true}]}"
  } >"$dir/hollow.yaml"
  launch kwok "$dir/bin/kwok" --kubeconfig "$p/kwok.kubeconfig" --config "$dir/hollow.yaml" \
    --manage-all-nodes=false --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake \
    --cidr "$hollow_pods" --node-ip "$api" --node-name hollow --node-port $((port + 5)) \
    --tls-cert-file "$p/kubelet-hollow.crt" --tls-private-key-file "$p/kubelet-hollow.key" \
    --server-address "$api:$((port + 5))" --node-lease-duration-seconds 120
  for i in $(seq 0 $((hollow - 1))); do hollow_node "$i" "$taints"; done >"$dir/hollow-nodes.yaml"
  kubectl apply --server-side -f "$dir/hollow-nodes.yaml" >"$dir/log/hollow-nodes.log" 2>&1 ||
    die "see $dir/log/hollow-nodes.log"
  await kwok "ready hollow nodes" hollow_nodes_ready
}
