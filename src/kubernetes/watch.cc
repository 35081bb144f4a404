#include "kubernetes/watch.h"

#include <algorithm>
#include <utility>

#include "kubernetes/api_url.h"

namespace gangrun::kubernetes {

Watch::Watch(Core& core, WatchRequest request, WatchCallbacks callbacks)
    : core_(core),
      request_(std::move(request)),
      callbacks_(std::make_shared<const WatchCallbacks>(std::move(callbacks))),
      engine_(request_) {
  pause_ = core_.loop.after(base::Duration(0), [this] { next(); });
}

void Watch::next() {
  if (engine_.lists()) return list();
  has_begun_ = false;
  entry_.emplace(
      *core_.logins, [this](const Way& way) { watch(way); },
      [this](const base::Error& error) { on_trouble(error); });
  entry_->start();
}

void Watch::list() {
  page_ = {};
  page_.path = request_.path;
  page_.query = engine_.query(core_.dice());
  page_.max_answer_bytes = kMaxPageBytes;
  attempt_.emplace(core_, page_, core_.loop.now() + kPageLimit,
                   [this](base::Result<net::HttpResponse> answer) { on_page(std::move(answer)); });
}

void Watch::on_page(base::Result<net::HttpResponse> answer) {
  attempt_.reset();
  if (!answer.ok()) return on_trouble(answer.error());
  if (answer->status >= 300) return on_refusal(*answer);
  auto objects = engine_.take_page(answer->body);
  if (!objects.ok()) return on_trouble(objects.error());
  // Whoever gets the objects should not pay for their text too.
  std::exchange(answer->body, {});
  well();
  if (*objects) {
    const auto sign = life_.sign();
    const auto callbacks = callbacks_;
    callbacks->on_list(std::move(**objects));
    if (sign.expired()) return;
  }
  next();
}

void Watch::watch(const Way& way) {
  net::CallRequest call;
  call.target = api_target(core_.prefix, request_.path, engine_.query(core_.dice()));
  call.headers = way.headers;
  call.headers.add("Accept", "application/json");
  net::CallOptions options;
  options.deadline = core_.loop.now() + kPageLimit;
  options.idle_limit = kWatchSilence;
  net::StreamCallbacks callbacks;
  callbacks.on_begin = [this] {
    has_begun_ = true;
    well();
  };
  callbacks.on_piece = [this](std::string_view piece) { on_piece(piece); };
  callbacks.on_end = [this](base::Result<net::HttpResponse> end) { on_end(std::move(end)); };
  stream_ = net::stream(core_.loop, way.remote, std::move(call), options, std::move(callbacks));
}

void Watch::on_piece(std::string_view piece) {
  std::vector<Change> changes;
  const auto taken = engine_.put(piece, changes);
  if (taken.ok()) {
    had_setback_ = false;
    retry_pause_.reset();
    well();
  } else {
    core_.logger.debug("the watch of {} begins again: {}", request_.path, taken.error().message);
    stream_.reset();
    pause();
  }
  const auto sign = life_.sign();
  const auto callbacks = callbacks_;
  for (Change& change : changes) {
    callbacks->on_change(std::move(change));
    if (sign.expired()) return;
  }
}

void Watch::on_end(base::Result<net::HttpResponse> answer) {
  if (answer.ok() && answer->status == 401 && entry_->start_anew()) return;
  stream_.reset();
  engine_.end_watch();
  if (answer.ok() && answer->status >= 300) return on_refusal(*answer);
  // One that had begun ends for many reasons; whether the server is there the next one shows.
  if (answer.ok() || has_begun_) return pause();
  on_trouble(answer.error());
}

void Watch::on_refusal(const net::HttpResponse& response) {
  const Refusal refusal = read_refusal(response);
  if (engine_.refused(refusal)) return pause();
  on_trouble(error_of(refusal), read_retry_after(response));
}

void Watch::on_trouble(const base::Error& error, std::optional<base::Duration> retry_after) {
  std::optional<base::Duration> well_ago;
  if (well_at_) well_ago = core_.loop.now() - *well_at_;
  const bool gives_up = is_final(error, well_ago);
  const base::Error told = core_.explain(error);
  had_setback_ = true;
  if (!gives_up) pause(retry_after.value_or(base::Duration(0)));
  const auto callbacks = callbacks_;
  callbacks->on_trouble(told, gives_up);
}

void Watch::pause(base::Duration at_least) {
  const base::Duration own =
      std::exchange(had_setback_, true) ? retry_pause_.next(core_.dice()) : base::Duration(0);
  pause_ = core_.loop.after(std::max(own, at_least), [this] { next(); });
}

void Watch::well() { well_at_ = core_.loop.now(); }

}  // namespace gangrun::kubernetes
