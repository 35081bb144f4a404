#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::jobfile {

// How many ports, or their names.
struct PortsGiven {
  int count = 1;
  std::vector<std::string> names;
};

// "2", how many, or "http+grpc", their names: what --ports has for a type.
base::Result<PortsGiven> parse_ports(std::string_view text);

// The name of an interface, or a network. Whether there is one, and an address in it, only the
// place knows.
base::Result<std::string> parse_interface(std::string_view text);

// Whether a port can have this name, which is part of a variable's; the error says why not.
base::Result<> check_port_name(std::string_view name);

}  // namespace gangrun::jobfile
