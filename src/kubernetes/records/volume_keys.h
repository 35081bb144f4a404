#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <string>

#include "base/result.h"
#include "cluster/far_keys.h"
#include "kubernetes/records/head_keeper.h"
#include "net/alive.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::kubernetes::records {

// How long a part of the keys is tried: the tasks wait for it.
inline constexpr std::chrono::seconds kKeyWriteTimeout{40};

// The keys of a job's tasks on a volume, in the folder of this master: a file for each segment. A
// part counts as what is in the journal there (volume_journal.h).
class VolumeKeys final : public cluster::FarKeys {
 public:
  // `folder` is there; `head` outlives this.
  VolumeKeys(net::EventLoop& loop, HeadKeeper& head, std::string folder);

  void keep(int segment, int part, std::string bytes,
            std::function<void(base::Result<>)> done) override;
  void forget_before(int segment) override;

 private:
  struct Part {
    int segment = 0;
    int number = 0;
    std::string bytes{};
    std::function<void(base::Result<>)> done;
  };

  void work();
  void on_written(const base::Result<>& written);
  void finish(const base::Result<>& kept);
  void give_up();

  net::EventLoop& loop_;
  HeadKeeper& head_;
  const std::string folder_;
  std::deque<Part> parts_;  // the first is under way
  bool is_busy_ = false;
  int round_ = 0;  // answers of an earlier one are not wanted
  net::Timer limit_;
  net::Timer next_;
  const net::Life life_;  // for the answers of `head_`
  net::Workers disk_;     // last: what runs on it uses the others
};

}  // namespace gangrun::kubernetes::records
