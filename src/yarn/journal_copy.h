#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "hadoop/web_hdfs.h"
#include "job/status.h"
#include "journal/far_copy.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::yarn {

// One upload of a part, the pause after one that failed, and for how long uploads may fail before
// the job goes on without.
inline constexpr std::chrono::seconds kPartTimeout{20};
inline constexpr std::chrono::seconds kPartPause{1};
inline constexpr std::chrono::minutes kCopyTimeout{5};
// The same once the job has ended.
inline constexpr std::chrono::seconds kLastCopyTimeout{30};
inline constexpr std::size_t kMaxPartBytes = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxCopiedBytes = std::size_t{1} << 30U;

// The journal of a master on the cluster's file system, as numbered parts of its segment
// ("000001.00042"): each is written once, under another name until it is whole, since what HDFS
// holds of a file that is being appended to is anybody's guess. What comes while a part is on its
// way goes into the next one.
class JournalCopy final : public journal::FarCopy {
 public:
  struct Options {
    std::string segment_path;  // of the local segment
    int segment = 1;
    std::string folder;  // of the copy; exists
  };

  JournalCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files, Options options);

  void copy(std::function<void()> done) override;
  void hurry() override { hurried_ = true; }
  [[nodiscard]] std::string trouble() const override { return trouble_; }
  // Nothing can be copied any more; nobody waits for it from now on.
  void give_up(const std::string& why);

 private:
  struct Waiter {
    std::uint64_t bytes = 0;  // of the segment that must be there
    std::function<void()> done;
  };

  [[nodiscard]] std::uint64_t recorded() const;
  void work();
  void on_part(std::uint64_t end, const base::Result<>& stored);
  void release();

  net::EventLoop& loop_;
  base::Logger& logger_;
  const std::shared_ptr<hadoop::WebHdfs> files_;
  const Options options_;
  std::deque<Waiter> waiters_;
  std::uint64_t stored_ = 0;
  int next_part_ = 1;
  bool busy_ = false;
  std::optional<base::Instant> failing_since_;
  std::string trouble_;
  bool hurried_ = false;
  bool given_up_ = false;
  net::Timer timer_;
  net::Workers worker_;  // last: what runs on it uses the others
};

// Whether what a file system answered may be another answer after a while: it is away, or is just
// starting and does not have all its blocks yet.
[[nodiscard]] bool may_pass(const base::Error& error);

// Fetches the copy of a job's journal into a local folder, one file for each segment. Nothing is
// fetched where there is none.
base::Result<> fetch_journal(hadoop::WebHdfs& files, const std::string& from, const std::string& to,
                             base::Instant deadline);

// The words of the journal in this folder of the cluster's file system about a job whose masters
// are gone. None: there is no journal, or nothing is recorded in it.
base::Result<std::optional<job::JobStatus>> read_left_journal(hadoop::WebHdfs& files,
                                                              const std::string& folder,
                                                              const base::Clock& clock,
                                                              base::Instant deadline);

}  // namespace gangrun::yarn
