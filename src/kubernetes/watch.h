#pragma once

#include <memory>
#include <optional>

#include "kubernetes/attempt.h"
#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/refusal.h"
#include "kubernetes/watch_engine.h"
#include "net/alive.h"

namespace gangrun::kubernetes {

// A page that does not come for so long, and the head of a watch, are requested again.
inline constexpr base::Duration kPageLimit = base::seconds(60);
// The server sends a bookmark about every minute: one that is silent for longer has gone.
inline constexpr base::Duration kWatchSilence = base::seconds(150);

// Client::watch().
class Watch final : public Activity {
 public:
  Watch(Core& core, WatchRequest request, WatchCallbacks callbacks);

 private:
  void next();
  void list();
  void on_page(base::Result<net::HttpResponse> answer);
  void watch(const Way& way);
  void on_piece(std::string_view piece);
  void on_end(base::Result<net::HttpResponse> answer);

  void on_refusal(const net::HttpResponse& response);
  void on_trouble(const base::Error& error, std::optional<base::Duration> retry_after = {});
  // The next request after a pause: none for the first setback after it was well.
  void pause(base::Duration at_least = base::Duration(0));
  void well();

  Core& core_;
  const WatchRequest request_;
  const std::shared_ptr<const WatchCallbacks> callbacks_;
  WatchEngine engine_;
  Request page_;
  std::optional<Entry> entry_;

  bool had_setback_ = false;  // since a piece came
  RetryPause retry_pause_;
  bool has_begun_ = false;
  std::optional<base::Instant> well_at_;  // when it was last served
  std::optional<Attempt> attempt_;
  net::Timer pause_;
  net::Call stream_;
  const net::Life life_;
};

}  // namespace gangrun::kubernetes
