# shellcheck shell=bash disable=SC2034,SC2154
# Which addresses a cluster has, and what of its options later commands need.
#
# Addresses are from 198.18.0.0/15, which is set aside for test networks and routed nowhere: 198.18.K.0/24 for the nodes
# (.1 is this machine), 198.18.(128+K).0/24 for services and a /24 of 198.19.(16 K).0/20 for each real node's pods; the
# last /24 is for the pods of hollow nodes.
addresses() {
  host=198.18.$net.1
  services=198.18.$((128 + net)).0/24
  services_first=198.18.$((128 + net)).1
  pods=198.19.$((16 * net)).0/20
  hollow_pods=198.19.$((16 * net + 15)).1/24
  if [ "$real" -gt 0 ]; then api=$host; else api=127.0.0.1; fi
  link=kc$net
  server=https://$api:$port
}
node_address() { echo "198.18.$net.$((10 + $1))"; }
node_pods() { echo "198.19.$((16 * net + $1 - 1))"; }
node_netns() { echo "$link-node$1"; }

save_settings() {
  printf '%s=%q\n' real "$real" hollow "$hollow" port "$port" net "$net" startup "$startup" gates "$gates" \
    apis "$apis" tracker "$tracker" >"$dir/settings"
}

load_settings() {
  [ -r "$dir/settings" ] || die "no cluster in $dir"
  dir=$(cd "$dir" && pwd)
  # shellcheck disable=SC1091
  . "$dir/settings"
  addresses
}

port_free() { ! (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }
