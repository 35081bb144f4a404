#include "host/local_launch.h"

#include "net/hosts.h"

namespace gangrun::host {

std::string listen_address_of(const LocalLaunch& launch, bool other_hosts) {
  if (launch.serve_tls && launch.host_reason == kDefaultAddressReason) return {};
  if (other_hosts && net::is_loopback_address(launch.host)) return {};
  return net::is_numeric_address(launch.host) ? launch.host : std::string();
}

}  // namespace gangrun::host
