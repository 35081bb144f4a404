#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kubernetes/access.h"
#include "kubernetes/client.h"
#include "net/alive.h"
#include "net/call.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::kubernetes {

inline constexpr base::Duration kTokenFileAge = base::seconds(60);
// So long before a plugin's credentials expire others are requested.
inline constexpr base::Duration kExpiryMargin = base::seconds(60);
inline constexpr base::Duration kPluginLimit = base::seconds(60);

// The server that a request goes to, and the headers that it has.
struct Way {
  std::shared_ptr<const net::Remote> remote;
  net::Headers headers;  // who we are, and the user for which we act
};

// Logs in: keeps what was found out as long as it is good. In the loop; a plugin runs on a thread
// of its own, for kPluginLimit at most.
class LoginSource {
 public:
  using OnWay = std::function<void(base::Result<Way> way, std::uint64_t number)>;

  // kInvalidArgument: the access cannot be used. `clock` is borrowed.
  static base::Result<std::unique_ptr<LoginSource>> make(net::EventLoop& loop,
                                                         const base::Clock& clock, Access access,
                                                         PluginRunner run_plugin);
  LoginSource(net::EventLoop& loop, const base::Clock& clock, Access access,
              PluginRunner run_plugin, std::shared_ptr<const net::Remote> remote);
  LoginSource(const LoginSource&) = delete;
  LoginSource& operator=(const LoginSource&) = delete;
  // Ends a plugin that runs.
  ~LoginSource() { is_ending_ = true; }

  // `on_way` at once or later, with the number of the login.
  void get(OnWay on_way);

  // The server does not take the login of that number. False: no other is available.
  bool forget(std::uint64_t number);

 private:
  [[nodiscard]] net::Headers common_headers() const;
  void keep(std::shared_ptr<const net::Remote> remote, const std::string& authorization);
  base::Result<> read_login();
  void run_plugin();
  void on_plugin(base::Result<std::string> output);
  base::Result<> take_credentials(const Credentials& credentials);

  const base::Clock& clock_;
  const Access access_;
  const PluginRunner run_plugin_;
  const std::shared_ptr<const net::Remote> remote_;

  std::uint64_t number_ = 0;
  std::optional<Way> way_;
  std::optional<base::Instant> good_until_;   // none: as long as it is taken
  std::optional<base::WallTime> expires_at_;  // of a plugin's
  std::vector<OnWay> waiting_;                // for the plugin
  std::atomic<bool> is_ending_ = false;
  net::Workers workers_;  // last: joined first
};

// Something that is begun with a login, and once more with another where the server does not take
// the first.
class Entry {
 public:
  // Both come inside start() or start_anew(), or later.
  Entry(LoginSource& logins, std::function<void(const Way&)> begin,
        std::function<void(base::Error)> on_failure);

  void start();
  // After a 401. False, and nothing happens: that was the second one, or there is no other login.
  bool start_anew();

 private:
  LoginSource& logins_;
  const std::function<void(const Way&)> begin_;
  const std::function<void(base::Error)> on_failure_;
  std::uint64_t number_ = 0;
  bool is_anew_ = false;
  const net::Life life_;
};

}  // namespace gangrun::kubernetes
