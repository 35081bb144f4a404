#include "job/json_text.h"

#include "base/described_json.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::job {

namespace {

base::Error not_utf8(std::string_view key) {
  return base::invalid_argument(base::format("\"{}\" is not UTF-8", key));
}

constexpr base::ListOf<Told> kLines{kLastLines, {kMaxLineBytes}};

}  // namespace

base::Json Told::write(const std::string& text) const { return json_text(text, max_bytes); }

base::Result<> Told::read(const base::Json& json, std::string_view key, std::string& out) const {
  GANGRUN_TRY(base::Bytes{max_bytes}.read(json, key, out));
  if (base::is_valid_utf8(out)) return {};
  return not_utf8(key);
}

base::Json LastLines::write(const std::vector<std::string>& lines) { return json_lines(lines); }

base::Result<> LastLines::read(const base::Json& json, std::string_view key,
                               std::vector<std::string>& out) {
  return kLines.read(json, key, out);
}

std::string LastLines::bounds() { return kLines.bounds(); }

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

base::Result<std::string> text_member(const base::Json& object, std::string_view key,
                                      std::size_t max_bytes) {
  GANGRUN_ASSIGN(auto text, base::json_member<std::string>(object, key));
  GANGRUN_TRY(Told{max_bytes}.read(text, key, text));
  return text;
}

}  // namespace gangrun::job
