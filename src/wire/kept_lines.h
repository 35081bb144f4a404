#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/task_id.h"

// The output of tasks as a master keeps it for clients on other machines.
namespace gangrun::wire {

// The name of one of two streams.
struct ErrorOrOutput {
  [[nodiscard]] static base::Json write(bool is_error) { return is_error ? "err" : "out"; }
  static base::Result<> read(const base::Json& json, std::string_view key, bool& is_error);
  [[nodiscard]] static std::string bounds() { return "as out or err"; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return true;
  }
};

struct KeptLine {
  job::TaskId task;
  bool is_error = false;
  std::string text;
  std::optional<base::WallTime> time{};  // when it came; none: the master is an older one

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("task", &KeptLine::task),
                      base::row("stream", &KeptLine::is_error, ErrorOrOutput{}),
                      base::row("text", &KeptLine::text), base::row("time", &KeptLine::time));
  }

  friend bool operator==(const KeptLine&, const KeptLine&) = default;
};

struct KeptLines {
  std::int64_t next = 0;    // the number of the line that comes next
  std::int64_t missed = 0;  // lines from the requested one on that are not kept any more
  std::vector<KeptLine> lines;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("next", &KeptLines::next), base::row("missed", &KeptLines::missed),
                      base::row("lines", &KeptLines::lines));
  }

  friend bool operator==(const KeptLines&, const KeptLines&) = default;
};

}  // namespace gangrun::wire
