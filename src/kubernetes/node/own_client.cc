#include "kubernetes/node/own_client.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/variable.h"
#include "kubernetes/access.h"

namespace gangrun::kubernetes::node {

namespace {

using base::Result;

constexpr std::size_t kMaxAccountFile = std::size_t{4} << 20U;

}  // namespace

Result<std::unique_ptr<kubernetes::Client>> client_of_pod(net::EventLoop& loop,
                                                          base::Logger& logger) {
  kubernetes::Surroundings surroundings;
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    surroundings.environment[name] = base::variable(name);
  }
  surroundings.read = [](const std::string& path) {
    return base::read_file(path, kMaxAccountFile);
  };
  surroundings.parse_yaml = [](std::string_view) -> Result<base::Json> {
    return base::not_found("a pod's service account has no YAML");
  };
  GANGRUN_ASSIGN(auto access, kubernetes::find_access({}, surroundings));
  return kubernetes::Client::make(loop, logger, std::move(access),
                                  [](const kubernetes::Plugin&, const std::string&, base::Instant,
                                     const std::function<bool()>&) -> Result<std::string> {
                                    return base::not_found("a pod's service account has no plugin");
                                  });
}

}  // namespace gangrun::kubernetes::node
