#include "yarn/node/token_keeper.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "job/described.h"
#include "process/engine.h"

namespace gangrun::yarn::node {

namespace {

using base::Result;

// The KDC, every NameNode and the ResourceManager, one after the other.
constexpr std::chrono::minutes kErrandTimeout{3};
// A timer counts on a clock that does not know when somebody sets the time.
constexpr std::chrono::minutes kLookAgain{10};

}  // namespace

Result<GotTokens> get_tokens(const TokenRunner& runner, const base::Clock& clock,
                             const std::function<bool()>& is_over) {
  const base::WallTime begun = clock.wall_now();
  const std::string& output = runner.errand.output;
  GANGRUN_TRY(base::write_file_atomically(runner.errand_file,
                                          base::dump_json(base::to_json(runner.errand)), 0600));
  GANGRUN_ASSIGN(const auto answer, process::ask({runner.client_program, yarn::kTokenErrandCommand,
                                                  runner.errand_file},
                                                 clock.now() + kErrandTimeout, is_over));
  GANGRUN_ASSIGN(const base::WallTime ends, yarn::token_answer_from(answer.output));
  const auto bytes = base::read_file(output, hadoop::kMaxCredentialsBytes);
  (void)::unlink(output.c_str());  // tokens are to be in one place only
  if (!bytes.ok()) return bytes.error();
  GANGRUN_ASSIGN(hadoop::Credentials credentials, hadoop::parse_credentials(*bytes));
  return GotTokens{std::move(credentials), {begun, ends}};
}

TokenKeeper::TokenKeeper(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
                         const hadoop::TokenLife& life, Options options)
    : loop_(loop),
      clock_(clock),
      logger_(logger),
      options_(std::move(options)),
      schedule_(life, !options_.runner.client_program.empty()),
      worker_(loop, 1) {}

void TokenKeeper::arm() {
  const auto& next = schedule_.next();
  if (!next) return;
  const base::Duration left = *next - clock_.wall_now();
  if (left <= base::Duration::zero()) {
    timer_ = loop_.after(base::Duration::zero(), [this] { on_time(); });
  } else {
    timer_ = loop_.after(std::min<base::Duration>(left, kLookAgain), [this] { arm(); });
  }
}

void TokenKeeper::on_time() {
  if (!schedule_.replaces()) {
    tell_end();
    return schedule_.on_told();
  }
  const auto asked = worker_.run(
      [this] { return get_tokens(options_.runner, clock_, [this] { return is_over_.load(); }); },
      [this](Result<GotTokens> got) { on_fetched(std::move(got)); });
  if (!asked.ok()) on_fetched(asked.error());
}

void TokenKeeper::on_fetched(Result<GotTokens> got) {
  const base::WallTime now = clock_.wall_now();
  if (got.ok()) {
    logger_.info("the job has new tokens of Hadoop, good until {}",
                 base::to_iso8601(got->life.ends));
    schedule_.on_replaced(got->life);
    told_ = false;
    options_.on_replaced(std::move(got->credentials));
  } else {
    logger_.warning("no new tokens of Hadoop: {}", got.error().message);
    if (schedule_.ended(now) && !told_) tell_end();
    schedule_.on_failed(now);
  }
  arm();
}

void TokenKeeper::tell_end() {
  told_ = true;
  const std::string sentence = schedule_.sentence();
  logger_.error("{}", sentence);
  options_.on_ended(sentence);
}

}  // namespace gangrun::yarn::node
