#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/server.h"
#include "net/tunnel.h"
#include "wire/answers.h"
#include "wire/messages.h"

namespace gangrun::wire {

// The server of an agent: for a master that the agent cannot find, because it came back on another
// host, for tunnels to a port of the task, and for commands that run beside it. Nobody gets
// anything without the job's secret, and a master that was followed by another gets nothing any
// more. Calls back from the loop.
class ControlServer {
 public:
  ControlServer(net::EventLoop& loop, base::Secret secret,
                std::function<void(const job::Address& master)> on_master, base::Logger& logger);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

  // From now on, to those ports of 127.0.0.1 that `ports` names: the first one, or the one that the
  // request names.
  void serve_tunnels(std::function<std::vector<std::uint16_t>()> ports) {
    ports_ = std::move(ports);
  }
  // From now on, to who runs commands beside the task: why there can be no more of them, and what
  // takes one.
  struct ExecDoor {
    std::function<std::optional<base::Error>()> refusal;
    std::function<void(std::unique_ptr<net::Channel>)> take;
  };
  void serve_execs(ExecDoor door) { execs_ = std::move(door); }
  [[nodiscard]] std::size_t tunnel_count() const { return tunnels_.size(); }

  // With a certificate of its own, at `host` if that is a numeric address of this machine, else at
  // all of its addresses.
  base::Result<ControlAddress> listen(const std::string& host);

 private:
  void on_request(const net::HttpRequest& request, net::Responder responder);
  net::HttpResponse on_put_master(const std::string& body);
  std::optional<net::HttpResponse> refusal_of(const net::HttpRequest& request);
  [[nodiscard]] base::Result<std::uint16_t> port_of(const net::HttpRequest& request) const;
  void on_channel(const net::HttpRequest& request, std::unique_ptr<net::Channel> channel);

  net::EventLoop& loop_;
  Gatekeeper gatekeeper_;
  const std::function<void(const job::Address&)> on_master_;
  std::function<std::vector<std::uint16_t>()> ports_ = [] { return std::vector<std::uint16_t>(); };
  std::optional<ExecDoor> execs_;
  base::Logger& logger_;
  int newest_attempt_ = 0;  // of those masters that have called
  std::uint64_t next_tunnel_ = 1;
  std::map<std::uint64_t, std::unique_ptr<net::Tunnel>> tunnels_;
  net::Server server_;  // last: its callbacks use the others
};

}  // namespace gangrun::wire
