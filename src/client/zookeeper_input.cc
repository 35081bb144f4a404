#include "client/zookeeper_input.h"

#include <utility>

#include "mirror/zookeeper_access.h"

namespace gangrun::client {

base::Result<mirror::ZooKeeperFiles> zookeeper_files(const job::JobSpec& spec,
                                                     const Context& context) {
  if (!spec.zookeeper) return mirror::ZooKeeperFiles();
  return mirror::read_zookeeper_files(*spec.zookeeper, context.folder);
}

base::Result<> check_required_zookeeper(net::EventLoop& loop, const job::JobSpec& spec,
                                        const mirror::ZooKeeperFiles& files,
                                        mirror::LoginProgram kerberos, const Context& context,
                                        const std::function<bool()>& is_cancelled) {
  if (!spec.zookeeper || !spec.zookeeper->required) return {};
  kerberos.path = context.program;
  return mirror::try_zookeeper(loop, *spec.zookeeper,
                               {.files = files, .kerberos = std::move(kerberos)}, is_cancelled);
}

}  // namespace gangrun::client
