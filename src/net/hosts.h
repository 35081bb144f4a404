#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gangrun::net {

// Names by /etc/hosts and DNS only, without the host's name service modules, which a static program
// cannot load safely. Call it once, first thing in the main of a static program.
void use_static_name_service();

// The numeric addresses of `host` (itself, if numeric), the best one first. Blocks, until about
// `deadline` at most. The error names the host.
base::Result<std::vector<std::string>> resolve(const std::string& host, base::Instant deadline);

// The name of this machine.
std::string host_name();

[[nodiscard]] bool is_numeric_address(std::string_view text);
[[nodiscard]] bool is_loopback_address(std::string_view address);

// The address of this machine from which packets to `address` (numeric) leave. Sends nothing.
base::Result<std::string> local_address_toward(const std::string& address);

// "host:port", with brackets around an IPv6 address.
std::string host_port(std::string_view host, int port);

}  // namespace gangrun::net
