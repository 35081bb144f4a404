# shellcheck shell=bash disable=SC2154
# etcd, the API server, the controller manager and the scheduler.

make_keys() {
  local nodes=() i
  for i in $(seq "$real"); do nodes+=(--node "node$i=$(node_address "$i")"); done
  "$dir/bin/kube-all" pki --dir "$dir/pki" --server "$server" \
    --address kubernetes,kubernetes.default,kubernetes.default.svc,kubernetes.default.svc.cluster.local \
    --address "$services_first,$host" --node "hollow=$api" "${nodes[@]}" \
    --user admin=system:masters --user system:kube-controller-manager --user system:kube-scheduler \
    --user system:kube-proxy --user coredns --user kwok=system:masters
}

start_etcd() {
  local p=$dir/pki etcd=https://127.0.0.1:$((port + 1)) peers=http://127.0.0.1:$((port + 2))
  launch etcd "$dir/bin/kube-all" etcd --name local --data-dir "$dir/etcd" --log-level warn \
    --listen-client-urls "$etcd" --advertise-client-urls "$etcd" --listen-peer-urls "$peers" \
    --initial-advertise-peer-urls "$peers" --initial-cluster "local=$peers" --unsafe-no-fsync \
    --client-cert-auth --trusted-ca-file "$p/etcd-ca.crt" --cert-file "$p/etcd.crt" --key-file "$p/etcd.key"
  await etcd "answer from etcd" curl -fsS --cacert "$p/etcd-ca.crt" --cert "$p/etcd-client.crt" \
    --key "$p/etcd-client.key" "$etcd/health"
}

await_api_server() { await kube-apiserver "ready API server" kubectl get --raw /readyz; }

start_api_server() {
  local p=$dir/pki issuer=https://kubernetes.default.svc.cluster.local more=()
  # Without a real node nothing can reach a service, and the loopback address must not be one's endpoint.
  local reconciler=lease
  if [ "$real" -eq 0 ]; then reconciler=none; fi
  if [ -n "$gates" ]; then more+=(--feature-gates "$gates"); fi
  if [ -n "$apis" ]; then more+=(--runtime-config "$apis"); fi
  if [ "$audit" = yes ]; then
    more+=(--audit-policy-file "$here/audit.yaml" --audit-log-path "$dir/log/audit.log")
  fi
  # Services of the cluster cannot be reached from here, their pods can.
  if [ "$kueue" = yes ]; then more+=(--enable-aggregator-routing); fi
  launch kube-apiserver "$dir/bin/kube-all" kube-apiserver --bind-address "$api" --secure-port "$port" \
    --advertise-address "$host" --endpoint-reconciler-type "$reconciler" --etcd-servers "https://127.0.0.1:$((port + 1))" \
    --etcd-cafile "$p/etcd-ca.crt" --etcd-certfile "$p/etcd-client.crt" --etcd-keyfile "$p/etcd-client.key" \
    --tls-cert-file "$p/apiserver.crt" --tls-private-key-file "$p/apiserver.key" --client-ca-file "$p/ca.crt" \
    --kubelet-certificate-authority "$p/ca.crt" --kubelet-client-certificate "$p/apiserver-kubelet-client.crt" \
    --kubelet-client-key "$p/apiserver-kubelet-client.key" --kubelet-preferred-address-types InternalIP \
    --service-account-issuer "$issuer" --api-audiences "$issuer" \
    --service-account-key-file "$p/sa.pub" --service-account-signing-key-file "$p/sa.key" \
    --requestheader-client-ca-file "$p/front-proxy-ca.crt" --requestheader-allowed-names front-proxy-client \
    --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group \
    --requestheader-extra-headers-prefix X-Remote-Extra- \
    --proxy-client-cert-file "$p/front-proxy-client.crt" --proxy-client-key-file "$p/front-proxy-client.key" \
    --service-cluster-ip-range "$services" --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --allow-privileged --profiling=false "${more[@]}"
  await_api_server
}

# start_controller NAME PORT OPTION... starts one of the two that only the API server knows of.
start_controller() {
  local name=$1 own_port=$2 config=$dir/pki/$1.kubeconfig more=()
  shift 2
  if [ -n "$gates" ]; then more+=(--feature-gates "$gates"); fi
  launch_lasting "$name" "$dir/bin/kube-all" "$name" --kubeconfig "$config" --authentication-kubeconfig "$config" \
    --authorization-kubeconfig "$config" --bind-address 127.0.0.1 --secure-port "$own_port" --leader-elect=false \
    --kube-api-qps 200 --kube-api-burst 400 --profiling=false "$@" "${more[@]}"
}

start_control_plane() {
  local p=$dir/pki
  start_etcd
  start_api_server
  start_controller kube-controller-manager $((port + 3)) --use-service-account-credentials \
    --service-account-private-key-file "$p/sa.key" --root-ca-file "$p/ca.crt" \
    --cluster-signing-cert-file "$p/ca.crt" --cluster-signing-key-file "$p/ca.key"
  start_controller kube-scheduler $((port + 4))
  await kube-controller-manager "controller manager" curl -fsSk "https://127.0.0.1:$((port + 3))/healthz"
  await kube-scheduler "scheduler" curl -fsSk "https://127.0.0.1:$((port + 4))/healthz"
  # Pods can be created once the controller manager has made the account that they run under.
  await kube-controller-manager "default service account" kubectl get serviceaccount default
}
