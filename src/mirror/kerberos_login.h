#pragma once

#include <string>

#include "net/event_loop.h"
#include "zookeeper/login.h"

namespace gangrun::mirror {

// The program that runs a login errand, and the ticket for it: see LoginErrand.
struct LoginProgram {
  std::string path{};  // gangrun
  std::string principal{};
  std::string keytab{};
  std::string krb5_config{};
};

// By Kerberos, with the ticket that there is by then. `server` is the servers' principal, in which
// "_HOST" stands for the host's name; empty: "zookeeper/_HOST". The loop outlives what it makes.
zookeeper::LoginStart kerberos_login(net::EventLoop& loop, const LoginProgram& program,
                                     const std::string& server);

}  // namespace gangrun::mirror
