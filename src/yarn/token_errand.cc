#include "yarn/token_errand.h"

#include <string_view>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::yarn {

namespace {

using base::Result;

constexpr std::string_view kAnswer = "tokens are good until ";
constexpr std::size_t kShownBytes = 500;

}  // namespace

std::string token_answer(base::WallTime ends) {
  return base::format("{}{}", kAnswer, base::to_iso8601(ends));
}

Result<base::WallTime> token_answer_from(const std::string& output) {
  std::string last;
  for (const std::string& line : base::split(output, '\n')) {
    if (line.starts_with(kAnswer)) return base::parse_iso8601(line.substr(kAnswer.size()));
    if (!base::trim(line).empty()) last = base::trim(line);
  }
  return base::internal(last.empty() ? "gangrun printed nothing"
                                     : base::shorten(last, kShownBytes));
}

}  // namespace gangrun::yarn
