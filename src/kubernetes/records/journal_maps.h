#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/far_copy.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/map_writer.h"
#include "kubernetes/records/record_place.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::records {

inline constexpr std::size_t kMaxJournalPartBytes = std::size_t{128} * 1024;
// Once the job has ended, what cannot be written for so long is not waited for.
inline constexpr std::chrono::seconds kLastJournalTimeout{60};

// The journal of a master in config maps: what is recorded while a part is on its way goes into the
// next one. Where the API server is away it waits for as long as that lasts, so nothing is decided
// that a next master would not know.
class JournalMaps final : public journal::FarCopy {
 public:
  struct Options {
    std::string segment_path;  // of the local segment
    int segment = 1;
    // Once: there is only room for the end of the job any more. Without that room nothing is
    // written, or waited for.
    std::function<void()> on_full{};
  };

  // `head` outlives this.
  JournalMaps(RecordPlace place, HeadKeeper& head, Options options);

  void copy(std::function<void()> done) override;
  void hurry() override;
  [[nodiscard]] std::string trouble() const override;

 private:
  struct Waiter {
    std::uint64_t bytes = 0;  // of the segment that must be there
    std::function<void()> done;
  };

  [[nodiscard]] std::uint64_t recorded() const;
  void work();
  void on_part(std::uint64_t end, const base::Result<>& stored);
  void tell_if_full();
  void wait_at_most();
  void give_up(const std::string& why);
  void release();

  net::EventLoop& loop_;
  base::Logger& logger_;
  HeadKeeper& head_;
  const Options options_;
  const ChainLimits limits_;
  MapWriter writer_;
  std::deque<Waiter> waiters_;
  std::uint64_t stored_ = 0;
  bool is_busy_ = false;
  bool is_hurried_ = false;
  bool has_given_up_ = false;
  bool is_full_ = false;
  net::Timer limit_;
  net::Timer release_;
  net::Timer full_;
};

}  // namespace gangrun::kubernetes::records
