#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "job/ends.h"

namespace gangrun::job {

// What an agent that ends by itself leaves for whoever has started it, as its master does not hear
// it.
struct LastWords {
  std::string why;
  // No master has answered for as long as the agent's lease. That is no fault of the task's.
  bool lost_master = false;
  // The run had ended before: whoever comes to know it need not take it for lost.
  std::optional<RunEnd> run;

  friend bool operator==(const LastWords&, const LastWords&) = default;
};

std::string to_text(const LastWords& words);
// Any text: what is no such object is all `why`.
LastWords last_words_from(const std::string& text);

}  // namespace gangrun::job
