#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "agents/key_records.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/far_keys.h"
#include "net/alive.h"

namespace gangrun::agents {

// A segment that has become so much larger than what it says is followed by the next one.
inline constexpr std::size_t kSpareKeyLogBytes = std::size_t{16} << 20U;
// Likewise one of so many parts, each of which is a file of its own.
inline constexpr int kMaxKeyLogParts = 200;
inline constexpr std::size_t kMaxKeyLogPartBytes = std::size_t{8} << 20U;
// A segment of the most keys, with as much again, twice as digits.
inline constexpr std::size_t kMaxKeyLogBytes = 4 * wire::kMaxBytesOfKeys + 4 * kSpareKeyLogBytes;

// The place of a master's records of keys and barriers: segments in a folder of the job, the last
// whole one of which says all; or, with `far`, where that keeps them, and the folder has only what
// was brought from there. A master writes to none of an earlier one.
class KeyLog {
 public:
  // `kept` is what a new segment begins with. Both it and `far`, which may be null, outlive this.
  KeyLog(std::string folder, cluster::FarKeys* far, const KeptKeys& kept,
         std::size_t spare_bytes = kSpareKeyLogBytes)
      : folder_(std::move(folder)), far_(far), kept_(kept), spare_bytes_(spare_bytes) {}
  KeyLog(const KeyLog&) = delete;
  KeyLog& operator=(const KeyLog&) = delete;

  // Makes `kept` what earlier masters have kept. A missing folder has nothing. Before the first
  // add().
  base::Result<> read(KeptKeys& kept);
  // `done` is called once, here or later: when a next master would find the record, or it could not
  // be written, which is final. In the order of the calls.
  void add(const KeyRecord& record, std::function<void(base::Result<>)> done);

 private:
  struct Waiting {
    std::string line;
    std::function<void(base::Result<>)> done;
  };

  [[nodiscard]] bool is_full() const;
  void write_here(const Waiting& record);
  base::Result<> begin_segment(const std::string& line);
  void write_far();
  // Tells those when it is kept; the first who are told of a segment know that it is whole.
  void keep_part(std::string bytes, std::vector<Waiting> told, bool is_first_told);
  [[nodiscard]] std::string path_of(int segment) const;
  [[nodiscard]] std::vector<int> segments() const;

  const std::string folder_;
  cluster::FarKeys* const far_;
  const KeptKeys& kept_;
  const std::size_t spare_bytes_;
  int last_segment_ = 0;  // this one's, or that of an earlier master
  bool is_open_ = false;  // this one's, as far as it is written
  base::UniqueFd file_;
  std::size_t bytes_ = 0;
  int parts_ = 0;
  bool is_busy_ = false;  // a part is on its way
  std::deque<Waiting> waiting_;
  const net::Life life_;  // for the answers of `far_`
};

}  // namespace gangrun::agents
