#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/hex.h"
#include "base/json_reader.h"
#include "base/strings.h"

template nlohmann::json nlohmann::json::parse<const char*>(const char*, const char*,
                                                           nlohmann::json::parser_callback_t, bool,
                                                           bool);
template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace gangrun::base {

namespace {

// The mark stands for a byte that no UTF-8 has while the library, which takes nothing else, reads
// or writes: U+10FFFF, which is no character, and two hexadecimal digits. Itself it has "--" there.
constexpr std::string_view kMark = "\xF4\x8F\xBF\xBF";
constexpr std::string_view kItself = "--";
constexpr std::size_t kEscapeBytes = 6;  // of "\udcff"

// The length of the character at the front of `text`; 0 where that is no UTF-8.
std::size_t character_length(std::string_view text) {
  for (std::size_t n = 1; n <= std::min<std::size_t>(4, text.size()); ++n) {
    if (is_valid_utf8(text.substr(0, n))) return n;
  }
  return 0;
}

std::string with_marks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view taken = text.substr(0, std::max<std::size_t>(1, length));
    if (length == 0) {
      out.append(kMark).append(to_hex(taken));
    } else {
      out.append(taken);
      if (taken == kMark) out.append(kItself);
    }
    text.remove_prefix(taken.size());
  }
  return out;
}

// Each mark replaced by what `stands_for` makes of its two digits.
template <typename StandsFor>
std::string replace_marks(std::string_view text, StandsFor stands_for) {
  std::string out;
  for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark)) {
    const std::string_view digits = text.substr(at + kMark.size(), kItself.size());
    out.append(text.substr(0, at));
    out.append(digits == kItself ? std::string(kMark) : stands_for(digits));
    text.remove_prefix(at + kMark.size() + kItself.size());
  }
  return out.append(text);
}

std::string without_marks(std::string_view text) {
  return replace_marks(text, [](std::string_view digits) { return from_hex(digits).value_or(""); });
}

// The same value with every key and every string changed.
Json with_strings(const Json& json, std::string (*change)(std::string_view)) {
  if (json.is_string()) return change(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  if (json.is_array()) {
    Json changed = Json::array();
    for (const Json& value : json) changed.push_back(with_strings(value, change));
    return changed;
  }
  // Different texts stay different: no key has to be looked for.
  Json::object_t members;
  for (const auto& [key, value] : json.items()) {
    members.emplace_back(change(key), with_strings(value, change));
  }
  return members;
}

// The number in an escape "\uXXXX" at the front of `text`.
std::optional<unsigned> escaped(std::string_view text) {
  if (!text.starts_with("\\u") || text.size() < kEscapeBytes) return std::nullopt;
  unsigned number = 0;
  const char* const end = text.data() + kEscapeBytes;
  const auto read = std::from_chars(text.data() + 2, end, number, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// The front of a JSON text with marks for the escapes of bytes, which for the library are half a
// character each. A byte's is as long, so that an error still tells the place.
struct Marked {
  std::size_t taken = 1;
  std::string instead;
};

Marked mark_front(std::string_view text) {
  const auto itself = [](std::size_t taken) {
    return Marked{taken, std::string(kMark).append(kItself)};
  };
  if (text.starts_with(kMark)) return itself(kMark.size());
  const std::optional<unsigned> unit = escaped(text);
  if (!unit) {
    const std::size_t taken = text.starts_with('\\') ? std::min<std::size_t>(2, text.size()) : 1;
    return {taken, std::string(text.substr(0, taken))};
  }
  const bool is_high = *unit >= 0xD800 && *unit < 0xDC00;
  const std::optional<unsigned> low =
      is_high ? escaped(text.substr(kEscapeBytes)) : std::optional<unsigned>();
  if (low && *low >= 0xDC00 && *low < 0xE000) {
    if (*unit == 0xDBFF && *low == 0xDFFF) return itself(2 * kEscapeBytes);
    return {2 * kEscapeBytes, std::string(text.substr(0, 2 * kEscapeBytes))};
  }
  if (*unit < 0xDC80 || *unit > 0xDCFF) {
    return {kEscapeBytes, std::string(text.substr(0, kEscapeBytes))};
  }
  const auto byte = static_cast<char>(*unit & 0xFFU);
  return {kEscapeBytes, std::string(kMark).append(to_hex({&byte, 1}))};
}

std::string mark_escapes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Marked front = mark_front(text);
    out.append(front.instead);
    text.remove_prefix(front.taken);
  }
  return out;
}

std::string dump(const Json& json, int indent) {
  try {
    return json.dump(indent, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::type_error&) {
    return replace_marks(with_strings(json, with_marks).dump(indent),
                         [](std::string_view digits) { return format("\\udc{}", digits); });
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Error{Code::kResourceExhausted,
                 format("JSON of {} bytes is over the limit of {}", text.size(), max_bytes)};
  }
  auto read = read_json(text);
  if (read.ok()) return std::move(read->document);
  const bool may_have_bytes =
      read.error().code == Code::kInvalidArgument && text.find("\\u") != std::string_view::npos;
  if (!may_have_bytes) return std::move(read).error();
  const auto marked = read_json(mark_escapes(text));
  if (!marked.ok()) return marked.error();
  return with_strings(marked->document, without_marks);
}

std::string dump_json(const Json& json) { return dump(json, -1); }

std::string dump_json_indented(const Json& json) { return dump(json, 2); }

void append_json(std::string& out, std::string_view text) {
  const bool stands_for_itself = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (!stands_for_itself) {
    out += dump_json(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace gangrun::base
