#pragma once

#include <functional>

#include "base/result.h"
#include "job/spec.h"
#include "mirror/kerberos_login.h"
#include "mirror/zookeeper_files.h"
#include "net/event_loop.h"
#include "zookeeper/session.h"

namespace gangrun::mirror {

// The means to be let in by a job's ZooKeeper, beside those that its spec names.
struct ZooKeeperAccess {
  ZooKeeperFiles files{};
  LoginProgram kerberos{};  // where the job logs in by Kerberos
};

// Servers, TLS and login; who the job is besides is the caller's.
zookeeper::Session::Options session_options(net::EventLoop& loop, const job::ZooKeeper& zookeeper,
                                            const ZooKeeperAccess& access);

// Whether a server takes the job: connects, logs in, and asks for something. Runs the loop, until
// `is_cancelled` at the longest (kCancelled). The error is a sentence for people, with the servers.
base::Result<> try_zookeeper(net::EventLoop& loop, const job::ZooKeeper& zookeeper,
                             const ZooKeeperAccess& access,
                             const std::function<bool()>& is_cancelled);

}  // namespace gangrun::mirror
