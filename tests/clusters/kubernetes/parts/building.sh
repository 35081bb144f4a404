# shellcheck shell=bash disable=SC2154
# How the programs are built that Debian does not have: once, into a folder outside the checkout.

kLeastGo=1.26

kubernetes=$(sed -n 's|^[[:space:]]*k8s.io/kubernetes v\([0-9.]*\)$|\1|p' "$here/kube-all/go.mod")
minor=${kubernetes#1.}
minor=${minor%%.*}

# find_go puts the machine's Go first in PATH, or the one of tools/install-deps where that is missing or too old.
find_go() {
  local found
  for found in "$(type -P go)" /usr/local/go/bin/go "$cache/../go/bin/go"; do
    [ -x "$found" ] || continue
    if printf '%s\n' "$kLeastGo" "$("$found" env GOVERSION | sed 's/^go//')" | sort -VC; then
      PATH=$(dirname "$found"):$PATH
      return
    fi
  done
  die "Go $kLeastGo is needed: tools/install-deps kubernetes"
}

# program_hash MODULE is that of all that the module's programs are made of.
program_hash() {
  { go version; find "$here/$1" \( -name '*.go' -o -name 'go.*' \) -print0 | sort -z | xargs -0 cat; } | sha256sum | cut -c1-16
}

# build NAME MODULE PACKAGE builds one program, unless that was done before, and puts a link to it into the cluster's folder.
build() {
  local name=$1 module=$2 package=$3 target flags package_path
  target=$cache/$name-$(program_hash "$module")
  if [ ! -x "$target" ]; then
    mkdir -p "$cache"
    say "building $name (the first time this takes minutes)"
    flags="-s -w"
    for package_path in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      flags+=" -X $package_path.gitVersion=v$kubernetes -X $package_path.gitTreeState=clean"
      flags+=" -X $package_path.gitMajor=1 -X $package_path.gitMinor=$minor"
    done
    (
      cd "$here/$module" || exit
      CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -buildvcs=false -trimpath -ldflags "$flags" -o "$target.$$" "$package"
    ) || die "$name could not be built; why is said above. Its modules come from $(go env GOPROXY), once for a machine"
    mv "$target.$$" "$target"
  fi
  mkdir -p "$dir/bin"
  ln -sfn "$target" "$dir/bin/$name"
}

build_all() {
  find_go
  build kube-all kube-all .
  ln -sfn kube-all "$dir/bin/kubectl"
  if [ "$hollow" -gt 0 ]; then build kwok kwok sigs.k8s.io/kwok/cmd/kwok; fi
  if [ "$real" -gt 0 ]; then
    build coredns coredns .
    build pause kube-all ./pause
  fi
  if [ "$kueue" = yes ]; then
    build kueue kueue sigs.k8s.io/kueue/cmd/kueue
    write_kueue_manifest
  fi
}

# need_programs says what is missing of that which the nodes take from the distribution.
need_programs() {
  local missing=() program
  for program in containerd ctr runc nft conntrack ip nsenter curl /usr/lib/cni/bridge /bin/busybox; do
    if [ -z "$(PATH=$PATH:/usr/sbin:/sbin type -P "$program")" ]; then missing+=("$program"); fi
  done
  [ ${#missing[@]} -eq 0 ] || die "not here: ${missing[*]}; tools/install-deps kubernetes installs them"
}
