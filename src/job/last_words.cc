#include "job/last_words.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/described.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
// Six bytes of JSON for each of them at most.
constexpr std::size_t kMaxShortWhyBytes = 300;

}  // namespace

std::string words_file(std::string_view log_prefix, int attempt) {
  return base::format("{}.{}.words", log_prefix, attempt);
}

std::string to_text(const LastWords& words) { return base::dump_json(base::to_json(words)); }

std::string to_short_text(LastWords words, std::size_t max_bytes) {
  std::string text = to_text(words);
  if (text.size() <= max_bytes) return text;
  if (words.run) {
    words.run->report.last_lines.clear();
    words.run->report.traceback.clear();
    text = to_text(words);
    if (text.size() <= max_bytes) return text;
    words.run.reset();
  }
  words.why = base::shorten(words.why, kMaxShortWhyBytes);
  return to_text(words);
}

LastWords last_words_from(const std::string& text) {
  const auto json = base::parse_json(text, kMaxBytes);
  if (json.ok()) {
    if (auto words = base::from_json<LastWords>(*json); words.ok()) return *std::move(words);
  }
  return {.why = text, .run = std::nullopt};
}

}  // namespace gangrun::job
