#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/status.h"
#include "journal/record.h"

namespace gangrun::journal {

// The records of one master.
struct Segment {
  int number = 0;
  std::optional<Header> header;  // none: its master died before the first line was whole
  std::vector<Record> records;
  // The last line is a part only: its master died while writing it. It was not acted upon.
  bool truncated_tail = false;

  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Journal {
  std::vector<Segment> segments;

  // Whether the newest segment has one.
  [[nodiscard]] bool truncated_tail() const {
    return !segments.empty() && segments.back().truncated_tail;
  }
};

// The whole journal in `folder`. Errors name segment and line: kDataLoss for damage,
// kFailedPrecondition where a newer gangrun wrote it, kInvalidArgument for a file of another kind,
// kNotFound without a folder or a segment.
base::Result<Journal> read_journal(const std::string& folder);

// The same from what the segments hold, the first one first.
base::Result<Journal> parse_journal(const std::vector<std::string_view>& contents);

// The newest status (or verdict) in the journal, found from its end: the cost does not depend on
// how long the journal is. None: no master has written one yet.
base::Result<std::optional<job::JobStatus>> last_status(const std::string& folder);

}  // namespace gangrun::journal
