#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "hadoop/credentials.h"
#include "hadoop/token_schedule.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "yarn/token_errand.h"

namespace gangrun::yarn::node {

// New tokens, and from when until when they are good.
struct GotTokens {
  hadoop::Credentials credentials;
  hadoop::TokenLife life;
};

// How gangrun is sent for tokens.
struct TokenRunner {
  std::string client_program;  // gangrun; empty: the job has brought no keytab
  yarn::TokenErrand errand;
  std::string errand_file;  // where it is written for gangrun
};

// Blocks for minutes at most, and not long after `is_over` says so.
base::Result<GotTokens> get_tokens(const TokenRunner& runner, const base::Clock& clock,
                                   const std::function<bool()>& is_over);

// Does in a master what hadoop::TokenSchedule says: has gangrun get new tokens before the old ones
// end, or tells that these have ended.
class TokenKeeper {
 public:
  struct Options {
    TokenRunner runner;
    std::function<void(hadoop::Credentials)> on_replaced;
    std::function<void(const std::string& sentence)> on_ended;
  };

  // `life` is that of the tokens that are there now.
  TokenKeeper(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
              const hadoop::TokenLife& life, Options options);
  TokenKeeper(const TokenKeeper&) = delete;
  TokenKeeper& operator=(const TokenKeeper&) = delete;
  ~TokenKeeper() { is_over_ = true; }  // so that nobody waits for what goes on

  void begin() { arm(); }

 private:
  void arm();
  void on_time();
  void on_fetched(base::Result<GotTokens> got);
  void tell_end();

  net::EventLoop& loop_;
  const base::Clock& clock_;
  base::Logger& logger_;
  const Options options_;
  hadoop::TokenSchedule schedule_;
  bool told_ = false;
  std::atomic<bool> is_over_ = false;
  net::Timer timer_;
  net::Workers worker_;  // last: what runs on it uses the others
};

}  // namespace gangrun::yarn::node
