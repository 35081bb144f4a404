#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "kubernetes/node/proven_door.h"
#include "kubernetes/node/proven_stream.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

// Clients that have proved themselves and are not done. One more takes the place of the oldest.
inline constexpr std::size_t kMaxHints = 4;
inline constexpr base::Duration kHintLimit = base::seconds(5);

// A port of 127.0.0.1 at which an agent hears where it reaches its master: it cannot know that
// where the relay's pod has no address yet, or another one is to follow it. Only who knows the
// job's secret is heard, and no master that was followed by another.
class HintDoor {
 public:
  // `on_hint` may come any number of times, also with an address that is known.
  HintDoor(net::EventLoop& loop, base::Logger& logger, base::Secret secret,
           std::function<void(const job::Address&)> on_hint);
  HintDoor(const HintDoor&) = delete;
  HintDoor& operator=(const HintDoor&) = delete;

  // At the first of these that is free; 0: any port. The port.
  base::Result<std::uint16_t> listen(const std::vector<std::uint16_t>& ports);

 private:
  struct Caller {
    std::unique_ptr<ProvenStream> stream;
    net::Timer limit;
  };
  using Place = std::list<Caller>::iterator;

  void on_caller(std::unique_ptr<ProvenStream> stream);
  void on_frame(ProvenStream& stream, const LinkFrame& frame);
  base::Result<> on_hint(const HintFrame& hint);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const std::function<void(const job::Address&)> on_hint_;
  std::uint32_t newest_attempt_ = 0;  // of the masters that have told something
  std::list<Caller> callers_;         // oldest first
  ProvenDoor door_;
};

}  // namespace gangrun::kubernetes::node
