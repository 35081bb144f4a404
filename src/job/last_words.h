#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/described.h"
#include "job/ends.h"
#include "job/json_text.h"

namespace gangrun::job {

// The message that an agent which ends by itself leaves for whoever has started it, as its master
// does not hear it.
struct LastWords {
  std::string why;
  // No master has answered for as long as the agent's lease. That is no fault of the task's.
  bool lost_master = false;
  // The run had ended before: whoever comes to know it need not take it for lost.
  std::optional<RunEnd> run;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("why", &LastWords::why, kSentence),
                      base::row("lost_master", &LastWords::lost_master),
                      base::row("run", &LastWords::run));
  }

  friend bool operator==(const LastWords&, const LastWords&) = default;
};

// The file in which they wait for whoever comes later, beside the task's log. The attempt is the
// agent's: one may have the log of the one before.
std::string words_file(std::string_view log_prefix, int attempt);
inline constexpr std::size_t kMaxWordsBytes = std::size_t{256} << 10U;

std::string to_text(const LastWords& words);
// The same in at most `max_bytes` (at least 2 KiB), for where no more is kept: without the run's
// last lines if need be, else without the run.
std::string to_short_text(LastWords words, std::size_t max_bytes);
// Any text: what is no such object is all `why`.
LastWords last_words_from(const std::string& text);

}  // namespace gangrun::job
