#include "process/network_namespace.h"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::process {

namespace {

constexpr const char* kFolder = "/run/netns";

}  // namespace

std::vector<std::string> network_namespaces() {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, failed)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<base::UniqueFd> open_network_namespace(const std::string& name) {
  const std::string path = fmt::format("{}/{}", kFolder, name);
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid()) return fd;
  if (errno != ENOENT) return base::from_errno(errno, fmt::format("cannot open {}", path));
  const std::vector<std::string> names = network_namespaces();
  return base::not_found(
      fmt::format("there is no network namespace {} on this machine; {}", path,
                  names.empty() ? "there is none with a name; `ip netns add NAME` makes one"
                                : fmt::format("there are: {}", base::join(names, ", "))));
}

base::Result<> enter_network_namespace(int fd) {
  if (::setns(fd, CLONE_NEWNET) == 0) return {};
  if (errno == EPERM) {
    return base::Error{base::Code::kPermissionDenied,
                       "no permission to enter a network namespace; that needs the rights of root "
                       "(CAP_SYS_ADMIN)"};
  }
  // The name of a namespace that is gone is an ordinary file.
  if (errno == EINVAL) return base::not_found("it is not a network namespace");
  return base::from_errno(errno, "cannot enter the network namespace");
}

}  // namespace gangrun::process
