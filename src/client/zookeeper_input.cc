#include "client/zookeeper_input.h"

#include <utility>

#include "master/zookeeper_access.h"

namespace gangrun::client {

base::Result<registry::ZooKeeperFiles> zookeeper_files(const job::JobSpec& spec,
                                                       const Context& context) {
  if (!spec.zookeeper) return registry::ZooKeeperFiles();
  return registry::read_zookeeper_files(*spec.zookeeper, context.folder);
}

base::Result<> check_required_zookeeper(net::EventLoop& loop, const job::JobSpec& spec,
                                        const registry::ZooKeeperFiles& files,
                                        master::LoginProgram kerberos, const Context& context,
                                        const std::function<bool()>& is_cancelled) {
  if (!spec.zookeeper || !spec.zookeeper->required) return {};
  kerberos.path = context.program;
  return master::try_zookeeper(loop, *spec.zookeeper,
                               {.files = files, .kerberos = std::move(kerberos)}, is_cancelled);
}

}  // namespace gangrun::client
