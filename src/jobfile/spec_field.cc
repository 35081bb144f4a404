#include "jobfile/spec_field.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "job/choice.h"
#include "job/units.h"

namespace gangrun::jobfile {

namespace {

using base::Result;

std::string shown(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kScalar: return job::in_quotes(node.text);
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

Result<> read_keys(const Field& field, const std::vector<std::string>& keys,
                   const std::function<Result<>(std::size_t, const Field&)>& read) {
  if (field.node.kind == YamlNode::Kind::kNull) return {};
  if (field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed(base::format("a map of {}", base::join(keys, ", ")));
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const auto known = std::find(keys.begin(), keys.end(), key.name);
    if (known == keys.end()) {
      return field.error_at(key.mark, job::not_one_of(key.name, "a known key", keys).message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, child.node.mark);
    GANGRUN_TRY(read(static_cast<std::size_t>(known - keys.begin()), child));
  }
  return {};
}

std::optional<std::int64_t> number_in(const YamlNode& node, std::int64_t min, std::int64_t max,
                                      int scale) {
  if (!node.number) return std::nullopt;
  const double number = *node.number * scale;
  const double whole = std::round(number);
  // Tenths have no exact binary form.
  const double slack = scale == 1 ? 0 : 1e-6;
  const bool fits = whole >= static_cast<double>(min) && whole <= static_cast<double>(max) &&
                    std::abs(number - whole) <= slack;
  return fits ? std::optional(static_cast<std::int64_t>(whole)) : std::nullopt;
}

Result<std::string> read_text(const Field& field, std::string_view allowed) {
  if (field.node.kind != YamlNode::Kind::kScalar) return field.not_allowed(allowed);
  return field.node.text;
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

}  // namespace gangrun::jobfile
