#pragma once

#include <functional>

#include "base/result.h"
#include "client/context.h"
#include "job/spec.h"
#include "mirror/kerberos_login.h"
#include "mirror/zookeeper_files.h"
#include "net/event_loop.h"

namespace gangrun::client {

// The contents of the files that the job names for its ZooKeeper, from the folder where gangrun was
// called; nothing where it names none. Errors are bad input.
base::Result<mirror::ZooKeeperFiles> zookeeper_files(const job::JobSpec& spec,
                                                     const Context& context);

// For a job that cannot be without its ZooKeeper: checks whether that takes it, as seen from this
// machine, with the ticket of `kerberos` (its program is this one). Runs the loop; kCancelled when
// `is_cancelled`.
base::Result<> check_required_zookeeper(net::EventLoop& loop, const job::JobSpec& spec,
                                        const mirror::ZooKeeperFiles& files,
                                        mirror::LoginProgram kerberos, const Context& context,
                                        const std::function<bool()>& is_cancelled);

}  // namespace gangrun::client
