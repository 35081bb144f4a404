#include "cli/hadoop_access.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/format.h"

namespace gangrun::cli {

namespace {

std::string user_of(const Context& context) {
  if (std::string name = context.variable("HADOOP_USER_NAME"); !name.empty()) return name;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return found->pw_name;
  }
  return context.variable("USER");
}

}  // namespace

base::Result<std::unique_ptr<HadoopAccess>> hadoop_access(const Context& context) {
  const std::string folder = context.variable("HADOOP_CONF_DIR");
  if (folder.empty()) {
    return base::invalid_argument(
        "HADOOP_CONF_DIR is not set; it names the folder with the cluster's core-site.xml and "
        "yarn-site.xml");
  }
  auto access = std::make_unique<HadoopAccess>();
  GANGRUN_ASSIGN(access->configuration,
                 hadoop::load_configuration(folder, hadoop::variables_of_this_process()));
  GANGRUN_ASSIGN(access->file_system, hadoop::find_file_system(access->configuration, ""));
  access->user = user_of(context);
  if (access->user.empty()) {
    return base::invalid_argument("nobody knows this user's name; HADOOP_USER_NAME can say it");
  }
  return access;
}

std::unique_ptr<cluster::YarnSite> yarn_site(const HadoopAccess& access, const Context& context) {
  return std::make_unique<cluster::YarnSite>(access.configuration, access.file_system, access.user,
                                             context.clock);
}

}  // namespace gangrun::cli
