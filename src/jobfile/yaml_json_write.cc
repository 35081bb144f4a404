#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/json_text.h"
#include "jobfile/yaml_json.h"
#include "jobfile/yaml_scalar.h"

namespace gangrun::jobfile {

namespace {

using base::Json;

// Longer keys of one line are not taken for keys.
constexpr std::size_t kMaxPlainKeyBytes = 512;

// Whether `text` needs no quotes: narrower than YAML is, so that every reader agrees.
bool needs_no_quotes(std::string_view text) {
  constexpr std::string_view kOthers = "0123456789_-./+=@%,:";
  if (text.empty() || !(base::is_letter(text.front()) || text.front() == '/')) return false;
  const auto fits = [&](char c) {
    return base::is_letter(c) || kOthers.find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(text, fits) || text.back() == ':') return false;
  return yaml_scalar(text).is_string();
}

// Characters that JSON's own escapes leave unchanged and readers of YAML refuse or take for a
// line's end.
bool must_be_escaped(std::uint32_t point) {
  return (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029 || point == 0xfeff ||
         point == 0xfffe || point == 0xffff;
}

std::size_t bytes_of_point(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

std::uint32_t point_of(std::string_view bytes) {
  constexpr std::array<std::uint32_t, 5> kFirstBits{0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t point = static_cast<unsigned char>(bytes[0]) & kFirstBits.at(bytes.size());
  for (const char c : bytes.substr(1)) {
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  }
  return point;
}

// As JSON writes it, which is a double-quoted scalar of YAML.
std::string quoted(const std::string& text) {
  const std::string json = base::dump_json(job::json_text(text));
  std::string out;
  for (std::size_t i = 0; i < json.size();) {
    const std::string_view bytes = std::string_view(json).substr(i, bytes_of_point(json[i]));
    const std::uint32_t point = point_of(bytes);
    if (must_be_escaped(point)) {
      out += base::format("\\u{:04x}", point);
    } else {
      out += bytes;
    }
    i += bytes.size();
  }
  return out;
}

// Whether a literal block keeps every byte: it has lines, and none of white space only, which
// readers treat differently; and nothing in it has to be escaped.
bool fits_a_block(const std::string& text) {
  if (text.find('\n') >= text.size() - 1 || text.ends_with("\n\n")) return false;
  if (text.find_first_of(" \t\n") == 0 || !base::is_valid_utf8(text)) return false;
  for (const std::string& line : base::split(text, '\n')) {
    if (!line.empty() && base::trim(line).empty()) return false;
  }
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
  };
  if (std::ranges::any_of(text, is_control)) return false;
  for (std::size_t i = 0; i < text.size(); i += bytes_of_point(text[i])) {
    if (must_be_escaped(point_of(std::string_view(text).substr(i, bytes_of_point(text[i]))))) {
      return false;
    }
  }
  return true;
}

class Writer {
 public:
  // A whole value; the cursor stands where it begins, and at a line's begin afterwards.
  void write(const Json& json, std::size_t indent) {
    if (json.is_object() && !json.empty()) return write_map(json, indent);
    if (json.is_array() && !json.empty()) return write_list(json, indent);
    write_scalar(json, indent);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void write_scalar(const Json& json, std::size_t indent) {
    if (!json.is_string()) {
      text_ += base::dump_json(json) + "\n";
      return;
    }
    const auto& text = json.get_ref<const std::string&>();
    if (!fits_a_block(text)) {
      text_ += (needs_no_quotes(text) ? text : quoted(text)) + "\n";
      return;
    }
    const bool ends_line = text.ends_with('\n');
    text_ += ends_line ? "|\n" : "|-\n";
    const std::string_view lines =
        std::string_view(text).substr(0, text.size() - (ends_line ? 1 : 0));
    for (const std::string& line : base::split(lines, '\n')) {
      if (!line.empty()) text_.append(indent, ' ');
      text_ += line + "\n";
    }
  }

  void write_map(const Json& json, std::size_t indent) {
    bool is_first = true;
    for (const auto& [key, value] : json.items()) {
      if (!is_first) text_.append(indent, ' ');
      is_first = false;
      const std::string name = needs_no_quotes(key) ? key : quoted(key);
      if (name.size() > kMaxPlainKeyBytes) {
        text_ += "? " + name + "\n";
        text_.append(indent, ' ');
      } else {
        text_ += name;
      }
      text_ += ":";
      write_value(value, indent);
    }
  }

  void write_value(const Json& value, std::size_t indent) {
    if (!value.is_structured() || value.empty()) {
      text_ += " ";
      return write_scalar(value, indent + 2);
    }
    const std::size_t inner = value.is_object() ? indent + 2 : indent;
    text_ += "\n";
    text_.append(inner, ' ');
    write(value, inner);
  }

  void write_list(const Json& json, std::size_t indent) {
    bool is_first = true;
    for (const Json& value : json) {
      if (!is_first) text_.append(indent, ' ');
      is_first = false;
      text_ += "- ";
      write(value, indent + 2);
    }
  }

  std::string text_;
};

}  // namespace

std::string json_to_yaml(const Json& json) {
  Writer writer;
  writer.write(json, json.is_string() ? 2 : 0);
  return writer.take();
}

}  // namespace gangrun::jobfile
