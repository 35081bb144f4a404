#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/server.h"
#include "registry/answers.h"
#include "registry/messages.h"

namespace gangrun::registry {

// Where an agent is found by a master that the agent cannot find, because it came back on another
// host. Nobody gets anything without the job's secret, and a master that was followed by another
// gets nothing any more. Calls back from the loop.
class ControlServer {
 public:
  ControlServer(net::EventLoop& loop, base::Secret secret,
                std::function<void(const job::Address& master)> on_master, base::Logger& logger);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

  // With a certificate of its own, at `host` if that is a numeric address of this machine, else at
  // all of its addresses.
  base::Result<ControlAddress> listen(const std::string& host);

 private:
  void on_request(const net::HttpRequest& request, net::Responder responder);
  net::HttpResponse on_put_master(const std::string& body);

  Gatekeeper gatekeeper_;
  const std::function<void(const job::Address&)> on_master_;
  base::Logger& logger_;
  int newest_attempt_ = 0;  // of those masters that have called
  net::Server server_;      // last: its callbacks use the others
};

}  // namespace gangrun::registry
