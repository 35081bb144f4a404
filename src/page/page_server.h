#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/server.h"

namespace gangrun::page {

// The newest state is made no more often, however many look.
inline constexpr base::milliseconds kOldestState{500};

// The user for which YARN's proxy says to come: its cookie proxy-user; empty where it does not say.
// To be believed from the proxy's own address only.
std::string proxied_user(const net::HttpRequest& request);

// The job's page, by HTTP without encryption, and read-only. It is meant for a proxy that knows who
// asks: whoever else comes is sent to that.
class PageServer {
 public:
  // `state` makes the JSON of page_json(). `behind` is the page's address at the proxy; empty:
  // there is none, and others are turned away.
  PageServer(net::EventLoop& loop, std::function<std::string()> state, std::string behind);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  // At all addresses of this machine. The port.
  base::Result<std::uint16_t> listen();
  // The users who may look, of those whom the proxy knows (its cookie proxy-user; without one the
  // name is empty). Until this is called all may that come by the proxy.
  void set_viewers(std::function<bool(const std::string& user)> may_view) {
    may_view_ = std::move(may_view);
  }
  // The numeric addresses of the proxy; until this is called there are none.
  void set_proxies(std::set<std::string> addresses) { proxies_ = std::move(addresses); }

 private:
  [[nodiscard]] net::HttpResponse answer(const net::HttpRequest& request);
  [[nodiscard]] net::HttpResponse elsewhere(const net::HttpRequest& request) const;
  const std::string& state();

  net::EventLoop& loop_;
  const std::function<std::string()> make_state_;
  const std::string behind_;
  std::set<std::string> proxies_;
  std::function<bool(const std::string& user)> may_view_;
  std::string state_;
  std::optional<base::Instant> state_at_;
  net::Server server_;  // last: its callback uses the others
};

}  // namespace gangrun::page
