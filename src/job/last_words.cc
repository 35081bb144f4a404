#include "job/last_words.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/json_text.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
// Six bytes of JSON for each of them at most.
constexpr std::size_t kMaxShortWhyBytes = 300;

base::Result<LastWords> from_json(const std::string& text) {
  LastWords words;
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxBytes));
  GANGRUN_ASSIGN(words.why, text_member(json, "why", kMaxSentenceBytes));
  GANGRUN_ASSIGN(words.lost_master, base::json_member<bool>(json, "lost_master"));
  if (json.contains("run")) {
    GANGRUN_ASSIGN(words.run, run_end_from_json(json.at("run")));
  }
  return words;
}

}  // namespace

base::Json to_json(const RunEnd& end) {
  return {{"attempt", end.attempt}, {"exit", to_json(end.report)}};
}

base::Result<RunEnd> run_end_from_json(const base::Json& json) {
  RunEnd end;
  GANGRUN_ASSIGN(end.attempt, base::json_member<int>(json, "attempt"));
  if (!json.contains("exit")) return base::invalid_argument("exit: it is missing");
  GANGRUN_ASSIGN(end.report, exit_report_from_json(json.at("exit")));
  return end;
}

std::string words_file(std::string_view log_prefix, int attempt) {
  return base::format("{}.{}.words", log_prefix, attempt);
}

std::string to_text(const LastWords& words) {
  base::Json json = {{"why", json_text(words.why, kMaxSentenceBytes)},
                     {"lost_master", words.lost_master}};
  if (words.run) json["run"] = to_json(*words.run);
  return base::dump_json(json);
}

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
  auto words = from_json(text);
  return words.ok() ? *std::move(words) : LastWords{.why = text, .run = std::nullopt};
}

}  // namespace gangrun::job
