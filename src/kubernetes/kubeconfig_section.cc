#include "kubernetes/kubeconfig_section.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/value_at.h"
#include "net/digests.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kMaxShownBytes = 100;

}  // namespace

std::string shown(std::string_view text) {
  return base::dump_json(base::shorten(text, kMaxShownBytes));
}

Section::Section(std::string file, std::string place, base::Json fields)
    : file_(std::move(file)), place_(std::move(place)), fields_(std::move(fields)) {}

base::Result<Section> Section::make(std::string file, std::string place, base::Json fields) {
  if (fields.is_null()) fields = base::Json::object();
  Section section(std::move(file), std::move(place), std::move(fields));
  if (!section.fields_.is_object()) return section.error("", "must be a map");
  return section;
}

bool Section::has(std::string_view key) const { return !json(key).is_null(); }

base::Json Section::json(std::string_view key) const { return value_at(fields_, {key}); }

base::Result<std::string> Section::text(std::string_view key) const {
  const base::Json value = json(key);
  if (value.is_null()) return "";
  if (!value.is_string()) return error(key, "must be a text (in quotes where it is a number)");
  return value.get<std::string>();
}

base::Result<std::string> Section::line(std::string_view key) const {
  GANGRUN_ASSIGN(std::string value, text(key));
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(value, is_control)) {
    return error(key, "must be one line without control characters");
  }
  return value;
}

base::Result<bool> Section::flag(std::string_view key) const {
  const base::Json value = json(key);
  if (value.is_null()) return false;
  if (!value.is_boolean()) return error(key, "must be true or false");
  return value.get<bool>();
}

base::Result<std::vector<std::string>> Section::texts(std::string_view key) const {
  std::vector<std::string> list;
  const base::Json value = json(key);
  if (value.is_null()) return list;
  const auto is_text = [](const base::Json& item) { return item.is_string(); };
  if (!value.is_array() || !std::ranges::all_of(value, is_text)) {
    return error(key, "must be a list of texts (in quotes where they are numbers)");
  }
  for (const base::Json& item : value) list.push_back(item.get<std::string>());
  return list;
}

base::Result<Section> Section::section(std::string_view key) const {
  return make(file_, base::format("{}{}{}", place_, place_.empty() ? "" : ": ", key), json(key));
}

base::Result<std::vector<Section>> Section::sections(std::string_view key) const {
  std::vector<Section> list;
  const base::Json value = json(key);
  if (value.is_null()) return list;
  if (!value.is_array()) return error(key, "must be a list");
  for (const base::Json& item : value) {
    if (!item.is_object()) return error(key, "must be a list of maps");
    list.push_back(Section(
        file_, base::format("{}{}{}[{}]", place_, place_.empty() ? "" : ": ", key, list.size()),
        item));
  }
  return list;
}

base::Result<std::string> Section::bytes(std::string_view key,
                                         const Surroundings& surroundings) const {
  const std::string data_key = std::string(key) + "-data";
  GANGRUN_ASSIGN(std::string data, text(data_key));
  if (!data.empty()) {
    std::erase_if(data, [](char c) { return c == '\n' || c == '\r'; });
    auto decoded = net::from_base64(data);
    if (!decoded) return error(data_key, "must be base64");
    return *std::move(decoded);
  }
  GANGRUN_ASSIGN(const std::string path, text(key));
  if (path.empty()) return "";
  auto read = surroundings.read(resolve(path));
  if (!read.ok()) return error(key, base::format("cannot be used: {}", read.error().message));
  return read;
}

std::string Section::resolve(const std::string& path) const {
  const std::size_t slash = file_.rfind('/');
  if (path.starts_with('/') || slash == std::string::npos) return path;
  return file_.substr(0, slash + 1) + path;
}

base::Error Section::error(std::string_view key, std::string_view what) const {
  std::string text = file_;
  if (!place_.empty()) text += ": " + place_;
  if (!key.empty()) text += base::format(": {}", key);
  return base::invalid_argument(base::format("{}{}{}", text, key.empty() ? ": " : " ", what));
}

}  // namespace gangrun::kubernetes
