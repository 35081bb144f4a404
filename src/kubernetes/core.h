#pragma once

#include <memory>
#include <random>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "kubernetes/access.h"
#include "kubernetes/login.h"
#include "kubernetes/turns.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes {

inline constexpr int kMaxRequestsAtOnce = 16;
// Logs: the most that are opened at once. An opening ends when the server has been asked, as it
// begins to answer with the first line only. One that takes longer does not keep the others
// waiting.
inline constexpr int kMaxOpeningsAtOnce = 16;
inline constexpr base::Duration kOpeningTime = base::seconds(2);

// The things that all activities at a server share; owned by the client, borrowed by its
// activities.
struct Core {
  net::EventLoop& loop;
  base::Logger& logger;
  Access access;
  std::string prefix;  // the path that the server is behind
  base::SystemClock clock;
  std::unique_ptr<LoginSource> logins;
  Turns requests{loop, kMaxRequestsAtOnce};
  Turns openings{loop, kMaxOpeningsAtOnce};
  std::minstd_rand generator{std::random_device{}()};

  // From 0 to 1.
  double dice() { return std::uniform_real_distribution<double>()(generator); }

  // An error with what its reader needs to find what is wrong with the access.
  [[nodiscard]] base::Error explain(base::Error error) const {
    if (error.code != base::Code::kUnauthenticated || access.source.empty()) return error;
    return error.context("with the access of " + access.source);
  }
};

}  // namespace gangrun::kubernetes
