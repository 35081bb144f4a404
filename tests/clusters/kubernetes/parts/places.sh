# shellcheck shell=bash disable=SC2154
# Where real nodes are: control groups and networks of their own.
#
# Daemons of the nodes, and what their container runtimes start, stay in a group of the second version's hierarchy, so
# that "down" finds all of it and nothing else. The containers' limits are in the groups that the kubelets make under
# $tracker's name, in whatever hierarchies hold the controllers.

find_hierarchies() {
  unified=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)
  mapfile -t legacy < <(awk '$3 == "cgroup" {print $2}' /proc/mounts)
  [ -n "$unified" ] || die "real nodes need the cgroup2 file system mounted"
}

prepare_groups() {
  find_hierarchies
  tracker=$unified/$link
  mkdir -p "$tracker/daemons"
  local h i controllers
  for h in "$unified" "${legacy[@]}"; do
    for i in $(seq "$real"); do mkdir -p "$h/$link/node$i"; done
  done
  if [ ${#legacy[@]} -eq 0 ]; then
    for h in "$unified" "$tracker"; do
      read -ra controllers <"$h/cgroup.controllers"
      for i in "${controllers[@]}"; do echo "+$i" >"$h/cgroup.subtree_control" || :; done
    done
  fi
}

remove_groups() {
  find_hierarchies
  local h group
  for h in "$unified" "${legacy[@]}"; do
    [ -d "$h/$link" ] || continue
    find "$h/$link" -depth -type d | while read -r group; do rmdir "$group" 2>/dev/null || :; done
  done
}

# in_netns I COMMAND... runs in node I's network only.
in_netns() {
  local i=$1
  shift
  nsenter --net="/run/netns/$(node_netns "$i")" "$@"
}

make_node_network() {  # I
  local i=$1 j
  ip netns add "$(node_netns "$i")"
  ip link add "$link-$i" type veth peer name eth0 netns "$(node_netns "$i")"
  ip link set "$link-$i" master "$link" up
  ip route add "$(node_pods "$i").0/24" via "$(node_address "$i")"
  in_netns "$i" ip link set lo up
  in_netns "$i" ip address add "$(node_address "$i")/24" dev eth0
  in_netns "$i" ip link set eth0 up
  # A service's address needs some route before it is translated.
  in_netns "$i" ip route add "$services" dev eth0
  for j in $(seq "$real"); do
    if [ "$i" != "$j" ]; then in_netns "$i" ip route add "$(node_pods "$j").0/24" via "$(node_address "$j")"; fi
  done
  in_netns "$i" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}

make_network() {
  local i
  ip link add "$link" type bridge
  ip address add "$host/24" dev "$link"
  ip link set "$link" up
  # What has no node to go to must not leave by the default route.
  ip route add unreachable "$pods"
  ip route add unreachable "$services"
  for i in $(seq "$real"); do make_node_network "$i"; done
}

remove_network() {
  local name
  for name in $(ip netns list | awk -v p="$link-node" 'index($1, p) == 1 {print $1}'); do ip netns delete "$name"; done
  ip link delete "$link" 2>/dev/null || :
  ip route delete unreachable "$pods" 2>/dev/null || :
  ip route delete unreachable "$services" 2>/dev/null || :
}

# in_node I COMMAND... runs in node I's network, mount and host-name spaces.
in_node() {
  local i=$1 pid
  shift
  read -r pid _ <"$dir/run/node$i.pid"
  nsenter --target "$pid" --mount --net --uts -- "$@"
}

launch_in_node() {  # I NAME COMMAND...
  local i=$1 name=$2 pid
  shift 2
  read -r pid _ <"$dir/run/node$i.pid"
  launch "$name-node$i" nsenter --target "$pid" --mount --net --uts -- "$@"
}
