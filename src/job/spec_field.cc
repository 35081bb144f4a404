#include "job/spec_field.h"

#include "job/units.h"

namespace gangrun::job {

namespace {

using base::Result;

std::string shown(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kScalar: return in_quotes(node.text);
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a map";
  }
  return "";
}

}  // namespace

base::Error Field::error_at(Mark mark, std::string_view text) const {
  return base::invalid_argument(
      base::format("{}{}{}{}", position_text(source, mark), path, path.empty() ? "" : ": ", text));
}

base::Error Field::not_allowed(std::string_view allowed) const {
  return error(base::format("{} is not allowed; allowed: {}", shown(node), allowed));
}

Field Field::child(std::size_t i, const std::string& name) const {
  return {node.children[i], path.empty() ? name : base::format("{}.{}", path, name), source,
          origins};
}

Result<std::string> read_text(const Field& field, std::string_view allowed) {
  if (field.node.kind != YamlNode::Kind::kScalar) return field.not_allowed(allowed);
  return field.node.text;
}

Result<> read_string(const Field& field, std::string_view allowed,
                     std::optional<std::string>& out) {
  GANGRUN_ASSIGN(out, read_text(field, allowed));
  return {};
}

Result<> read_memory(const Field& field, std::optional<std::int64_t>& out) {
  return read_scalar(field, "an amount of memory, for example 2 GiB", parse_memory_mib, out);
}

Result<> read_duration(const Field& field, std::optional<std::chrono::milliseconds>& out) {
  return read_scalar(field, "a time, for example 10 min", parse_duration, out);
}

Result<> read_count(const Field& field, int min, int max, std::optional<int>& out) {
  return read_scalar(
      field, base::format("a whole number from {} to {}", min, max),
      [&](std::string_view text) { return parse_count(text, min, max); }, out);
}

Result<> read_choice(const Field& field, std::optional<bool>& out) {
  constexpr std::string_view kAllowed = "true or false";
  GANGRUN_ASSIGN(const std::string text, read_text(field, kAllowed));
  if (text != "true" && text != "false") return field.not_allowed(kAllowed);
  out = text == "true";
  return {};
}

Result<std::vector<std::string>> read_list(const Field& field, std::string_view elements,
                                           std::string_view element) {
  if (field.node.kind != YamlNode::Kind::kList)
    return field.not_allowed(base::format("a list of {}", elements));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < field.node.children.size(); ++i) {
    GANGRUN_ASSIGN(auto text, read_text(field.child(i, std::to_string(i)), element));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace gangrun::job
