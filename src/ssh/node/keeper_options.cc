#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <string_view>

#include "base/format.h"
#include "ssh/node/keeper.h"

namespace gangrun::ssh::node {

namespace {

// The sizes for a keeper with one task.
constexpr rlim_t kMinOpenFiles = 64;

// Whether the flag is known.
bool take_option(std::string_view flag, const char* value, KeeperOptions& options) {
  const std::map<std::string_view, std::string KeeperOptions::*> flags = {
      {"--folder", &KeeperOptions::folder},
      {"--name", &KeeperOptions::host},
      {"--containment", &KeeperOptions::containment},
      {"--working-folder", &KeeperOptions::working_folder},
      {"--mark", &KeeperOptions::folder_mark},
      {"--interface", &KeeperOptions::interface}};
  const auto found = flags.find(flag);
  if (found == flags.end()) return false;
  options.*(found->second) = value;
  return true;
}

}  // namespace

base::Result<KeeperOptions> keeper_options_from(int argc, char** argv) {
  KeeperOptions options;
  options.containment = "auto";
  for (int i = 0; i < argc; i += 2) {
    if (i + 1 == argc || !take_option(argv[i], argv[i + 1], options)) {
      return base::invalid_argument(
          base::format("{} is no flag of host, or has no value", argv[i]));
    }
  }
  if (!options.folder.starts_with('/')) {
    return base::invalid_argument("--folder must be an absolute path");
  }
  if (options.host.empty()) return base::invalid_argument("--name must be given");
  // Whatever is at its path by then.
  options.program = "/proc/self/exe";
  return options;
}

base::Result<> check_limits() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return base::from_errno(errno, "getrlimit");
  if (limit.rlim_max >= kMinOpenFiles) return {};
  return base::unavailable(
      base::format("processes may have {} open files at once there (ulimit -Hn); at least {} are "
                   "needed, and more for more tasks",
                   limit.rlim_max, kMinOpenFiles));
}

base::Result<> check_place(const KeeperOptions& options) {
  struct stat own {};
  struct stat there {};
  if (::stat(".", &own) == 0 && ::stat(options.folder.c_str(), &there) == 0 &&
      own.st_dev == there.st_dev && own.st_ino == there.st_ino) {
    return {};
  }
  return base::unavailable(
      base::format("{} is not the folder any more that the login has found there", options.folder));
}

}  // namespace gangrun::ssh::node
