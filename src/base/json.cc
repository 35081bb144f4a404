#include "base/json.h"

template nlohmann::json nlohmann::json::parse<const char*>(const char*, const char*,
                                                           nlohmann::json::parser_callback_t, bool,
                                                           bool);
template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace gangrun::base {

namespace {

// Depth by counting brackets outside strings: cheaper than parsing, and done before it.
bool deeper_than(std::string_view text, int limit) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Error{Code::kResourceExhausted,
                 format("JSON of {} bytes is over the limit of {}", text.size(), max_bytes)};
  }
  if (deeper_than(text, kMaxJsonDepth)) {
    return invalid_argument(format("JSON nests deeper than {} levels", kMaxJsonDepth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return invalid_argument(format("not JSON: {}", error.what()));
  }
}

std::string dump_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_json_indented(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gangrun::base
