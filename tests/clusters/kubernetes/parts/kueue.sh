# shellcheck shell=bash disable=SC2154
# Kueue, in a pod of a real node, as its own manifests say.

kKueueNamespace=kueue-system
kKueueImage=localhost/kueue:$(sed -n 's|^[[:space:]]*sigs.k8s.io/kueue v\([0-9.]*\).*|\1|p' "$here/kueue/go.mod")

# write_kueue_manifest puts Kueue's own manifest, with an image of ours, beside its program.
write_kueue_manifest() {
  local source manifest
  manifest=$cache/kueue-$(program_hash kueue).yaml
  if [ ! -e "$manifest" ]; then
    source=$(cd "$here/kueue" && go list -m -f '{{.Dir}}' sigs.k8s.io/kueue) || die "Kueue's manifests are not here"
    kubectl kustomize "$source/config/default" | sed -E \
      -e "s|^( *image: ).*/kueue:main$|\1$kKueueImage|" -e 's|^( *imagePullPolicy: )Always$|\1Never|' >"$manifest.$$"
    grep -q "image: $kKueueImage" "$manifest.$$" || die "Kueue's manifest names another image than expected"
    mv "$manifest.$$" "$manifest"
  fi
  ln -sfn "$manifest" "$dir/kueue.yaml"
}

make_kueue_image() {
  make_image "$kKueueImage" --file "$dir/bin/kueue:/manager:755" --entrypoint /manager --user 65532
}

has_kueue_certificate() {
  [ -n "$(kubectl get secret kueue-webhook-server-cert --namespace $kKueueNamespace --output 'jsonpath={.data.tls\.crt}')" ]
}

# A kubelet looks at a pod's Secrets once a minute, or when the pod has changed.
tell_kubelet() {
  kubectl annotate pods --namespace $kKueueNamespace --selector control-plane=controller-manager --overwrite "gangrun-test/asked=$SECONDS"
}

# Its hooks refuse what they cannot be asked about, so it is up when they answer.
has_kueue() {
  tell_kubelet && kubectl create --dry-run=server --filename - <<<"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",
    \"kind\":\"ResourceFlavor\",\"metadata\":{\"name\":\"probe\"}}" &&
    kubectl get --raw /apis/visibility.kueue.x-k8s.io/v1beta2
}

start_kueue() {
  kubectl apply --server-side --filename "$dir/kueue.yaml" >"$dir/log/kueue.log" 2>&1 || die "see $dir/log/kueue.log"
  await kube-apiserver "certificate of Kueue" has_kueue_certificate
  await kube-apiserver "answer from Kueue" has_kueue
}
