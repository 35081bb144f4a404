#pragma once

#include <functional>
#include <optional>

#include "kubernetes/attempt.h"
#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/refusal.h"

namespace gangrun::kubernetes {

// A server that does not answer one attempt for so long is asked again.
inline constexpr base::Duration kAttemptLimit = base::seconds(60);

// A request until its answer: Client::request().
class Asking final : public Activity {
 public:
  Asking(Core& core, Request request, base::Instant deadline,
         std::function<void(ApiAnswer)> on_done);

 private:
  void ask();
  void on_answer(base::Result<net::HttpResponse> answer);
  void refused(const net::HttpResponse& response);
  // Asks again after a pause where that helps and the deadline allows; else ends with `answer`.
  void repeat_or_end(bool may_help, std::optional<base::Duration> retry_after, ApiAnswer answer);
  void end(ApiAnswer answer);

  Core& core_;
  const Request request_;
  const base::Instant started_;
  const base::Instant deadline_;
  const std::function<void(ApiAnswer)> on_done_;
  RetryPause retry_pause_;
  std::optional<base::Error> last_;
  net::Timer pause_;
  std::optional<Attempt> attempt_;
};

}  // namespace gangrun::kubernetes
