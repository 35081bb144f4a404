#include "cli/hadoop_access.h"

#include <utility>

#include "base/format.h"
#include "cli/own_user.h"
#include "hadoop/web_proxy.h"

namespace gangrun::cli {

namespace {

std::string user_of(const Context& context) {
  if (std::string name = context.variable("HADOOP_USER_NAME"); !name.empty()) return name;
  if (std::string name = own_user_name(); !name.empty()) return name;
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

std::string yarn_page_url(const hadoop::Configuration& configuration, const std::string& job) {
  const auto proxy = hadoop::web_proxy(configuration);
  return proxy.ok() ? base::format("{}/proxy/{}/", proxy->url, job) : std::string();
}

}  // namespace gangrun::cli
