#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// Network namespaces with a name, as `ip netns add NAME` makes them (ip-netns(8)).
namespace gangrun::process {

// Their names, sorted.
std::vector<std::string> network_namespaces();

// The descriptor keeps the namespace alive, also when its name is taken away. kNotFound says which
// names there are.
base::Result<base::UniqueFd> open_network_namespace(const std::string& name);

// Moves the calling *thread* (and what it starts from here on) into the namespace. Needs
// CAP_SYS_ADMIN. The error says what is missing; nothing has changed then.
base::Result<> enter_network_namespace(int fd);

}  // namespace gangrun::process
