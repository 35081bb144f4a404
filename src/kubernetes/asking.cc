#include "kubernetes/asking.h"

#include <algorithm>
#include <utility>

namespace gangrun::kubernetes {

namespace {

base::Result<base::Json> read_object(const std::string& body) {
  if (body.empty()) return base::Json();
  auto object = base::parse_json(body, body.size());
  if (object.ok()) return object;
  return base::unavailable("the answer is none of an API server: " + object.error().message);
}

}  // namespace

Asking::Asking(Core& core, Request request, base::Instant deadline,
               std::function<void(ApiAnswer)> on_done)
    : core_(core),
      request_(std::move(request)),
      started_(core.loop.now()),
      deadline_(deadline),
      on_done_(std::move(on_done)) {
  ask();
}

void Asking::ask() {
  const base::Instant limit = std::min(deadline_, core_.loop.now() + kAttemptLimit);
  attempt_.emplace(core_, request_, limit, [this](base::Result<net::HttpResponse> answer) {
    on_answer(std::move(answer));
  });
}

void Asking::on_answer(base::Result<net::HttpResponse> answer) {
  attempt_.reset();
  if (!answer.ok()) {
    const bool may_help = may_help_to_repeat(answer.error());
    return repeat_or_end(may_help, std::nullopt,
                         {core_.explain(std::move(answer).error()), std::nullopt});
  }
  if (answer->status >= 300) return refused(*answer);
  auto object = read_object(std::exchange(answer->body, {}));
  end({std::move(object), std::nullopt});
}

void Asking::refused(const net::HttpResponse& response) {
  Refusal refusal = read_refusal(response);
  const bool may_help =
      may_help_to_repeat(refusal) && core_.loop.now() - started_ < request_.patience;
  base::Error error = core_.explain(error_of(refusal));
  repeat_or_end(may_help, read_retry_after(response), {std::move(error), std::move(refusal)});
}

void Asking::repeat_or_end(bool may_help, std::optional<base::Duration> retry_after,
                           ApiAnswer answer) {
  const base::Duration pause =
      std::max(retry_pause_.next(core_.dice()), retry_after.value_or(base::Duration(0)));
  if (!may_help || core_.loop.now() + pause >= deadline_) {
    base::Error& error = answer.object.error();
    // The first reason says more than the limit that was reached waiting once more.
    if (last_ && error.code == base::Code::kDeadlineExceeded) {
      error.message += "; before that: " + last_->message;
    }
    return end(std::move(answer));
  }
  last_ = answer.object.error();
  core_.logger.debug("{} {} is asked again: {}", request_.method, request_.path, last_->message);
  pause_ = core_.loop.after(pause, [this] { ask(); });
}

void Asking::end(ApiAnswer answer) {
  // It may be the end of this.
  const auto on_done = on_done_;
  on_done(std::move(answer));
}

}  // namespace gangrun::kubernetes
