#include "job/json_text.h"

#include "base/format.h"
#include "base/strings.h"
#include "job/exit_report.h"

namespace gangrun::job {

namespace {

base::Error too_long(std::string_view key, std::size_t max_bytes) {
  return base::invalid_argument(
      base::format("\"{}\" is longer than the limit of {} bytes", key, max_bytes));
}

base::Error not_utf8(std::string_view key) {
  return base::invalid_argument(base::format("\"{}\" is not UTF-8", key));
}

}  // namespace

base::Json json_text(std::string_view text) {
  if (base::is_valid_utf8(text)) return text;
  const std::string clean =
      base::Json(text).dump(-1, ' ', false, base::Json::error_handler_t::replace);
  return base::parse_json(clean, clean.size()).value_or(base::Json(""));
}

base::Json json_text(std::string_view text, std::size_t max_bytes) {
  // One replacement character takes three bytes: the text may grow over the limit.
  const base::Json clean = json_text(base::shorten(text, max_bytes));
  return base::shorten(clean.get_ref<const std::string&>(), max_bytes);
}

base::Json json_lines(const std::vector<std::string>& lines) {
  base::Json list = base::Json::array();
  const auto most = static_cast<std::size_t>(kLastLines);
  for (std::size_t i = lines.size() > most ? lines.size() - most : 0; i < lines.size(); ++i) {
    list.push_back(json_text(lines[i], kMaxLineBytes));
  }
  return list;
}

base::Result<std::string> path_member(const base::Json& object, std::string_view key,
                                      std::size_t max_bytes) {
  GANGRUN_ASSIGN(auto path, base::json_member<std::string>(object, key));
  if (path.size() > max_bytes) return too_long(key, max_bytes);
  return path;
}

base::Result<std::string> text_member(const base::Json& object, std::string_view key,
                                      std::size_t max_bytes) {
  GANGRUN_ASSIGN(auto text, path_member(object, key, max_bytes));
  if (!base::is_valid_utf8(text)) return not_utf8(key);
  return text;
}

base::Result<std::string> text_member_or_empty(const base::Json& object, std::string_view key,
                                               std::size_t max_bytes) {
  return object.contains(key) ? text_member(object, key, max_bytes) : std::string();
}

base::Result<std::vector<std::string>> lines_member(const base::Json& object,
                                                    std::string_view key) {
  GANGRUN_ASSIGN(auto lines, base::json_member<std::vector<std::string>>(object, key));
  if (lines.size() > static_cast<std::size_t>(kLastLines)) {
    return base::invalid_argument(
        base::format("\"{}\" has more than the limit of {} lines", key, kLastLines));
  }
  for (const std::string& line : lines) {
    if (line.size() > kMaxLineBytes) return too_long(key, kMaxLineBytes);
    if (!base::is_valid_utf8(line)) return not_utf8(key);
  }
  return lines;
}

}  // namespace gangrun::job
