#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "journal/far_copy.h"
#include "kubernetes/records/head_keeper.h"
#include "net/alive.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::kubernetes::records {

// Once the job has ended, what is not confirmed for so long is not waited for.
inline constexpr std::chrono::seconds kLastVolumeTimeout{60};

// The journal of a master on a volume that a next master reads. What is recorded counts when the
// volume has it, and the head still was this master's after that: then the next one, which takes
// the head first and reads after, reads it.
class VolumeJournal final : public journal::FarCopy {
 public:
  struct Options {
    std::string segment_path;  // on the volume
    // Once: the volume did not keep what was written. Nothing is acted upon from then on.
    std::function<void(const base::Error& why)> on_lost{};
  };

  // `head` outlives this.
  VolumeJournal(net::EventLoop& loop, base::Logger& logger, HeadKeeper& head, Options options);

  void copy(std::function<void()> done) override;
  void hurry() override;
  [[nodiscard]] std::string trouble() const override;

 private:
  base::Result<> open();
  void work();
  void on_kept(const base::Result<>& kept);
  void wait_at_most();
  void give_up();
  void release();

  net::EventLoop& loop_;
  base::Logger& logger_;
  HeadKeeper& head_;
  const Options options_;
  base::UniqueFd segment_;
  std::vector<std::function<void()>> waiting_;    // for the next round
  std::vector<std::function<void()>> under_way_;  // of this one
  std::optional<base::Instant> began_;            // this round's writing
  bool is_busy_ = false;
  bool is_hurried_ = false;
  bool is_lost_ = false;
  bool has_given_up_ = false;
  net::Timer limit_;
  net::Timer release_;
  const net::Life life_;  // for the answers of `head_`
  net::Workers disk_;     // last: what runs on it uses the others
};

}  // namespace gangrun::kubernetes::records
