#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/strings.h"
#include "job/spec_names.h"
#include "job/yaml_tree.h"

// How the values of a job file are read: each by itself, with errors that begin with its place and
// its path. Which keys there are is not known here.
namespace gangrun::job {

// One value on its way into the draft: what it is, and what errors about it begin with.
struct Field {
  const YamlNode& node;
  std::string path;
  const std::string& source;
  std::map<std::string, std::string>& origins;

  [[nodiscard]] base::Error error(std::string_view text) const { return error_at(node.mark, text); }
  [[nodiscard]] base::Error error(const base::Error& cause) const { return error(cause.message); }
  [[nodiscard]] base::Error error_at(Mark mark, std::string_view text) const;
  // "a list is not allowed; allowed: …"
  [[nodiscard]] base::Error not_allowed(std::string_view allowed) const;
  [[nodiscard]] Field child(std::size_t i, const std::string& name) const;
};

template <typename Draft>
struct KeyRow {
  std::string_view name;
  base::Result<> (*read)(const Field&, Draft&);
};

template <typename Draft, std::size_t kRows>
std::vector<std::string> names_of(const KeyRow<Draft> (&rows)[kRows]) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

// Every key of the map by its row; an unknown one is an error that says which there are.
template <typename Draft, std::size_t kRows>
base::Result<> read_map(const Field& field, const KeyRow<Draft> (&rows)[kRows], Draft& draft) {
  if (field.node.kind == YamlNode::Kind::kNull) return {};
  if (field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed(base::format("a map of {}", base::join(names_of(rows), ", ")));
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const auto row = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const KeyRow<Draft>& r) { return r.name == key.name; });
    if (row == std::end(rows)) {
      return field.error_at(key.mark, not_one_of(key.name, "a known key", names_of(rows)).message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, child.node.mark);
    GANGRUN_TRY(row->read(child, draft));
  }
  return {};
}

base::Result<std::string> read_text(const Field& field, std::string_view allowed);

// A scalar by `parse`, whose error gets position and path.
template <typename T, typename Parse>
base::Result<> read_scalar(const Field& field, std::string_view allowed, Parse parse,
                           std::optional<T>& out) {
  GANGRUN_ASSIGN(const std::string text, read_text(field, allowed));
  auto value = parse(text);
  if (!value.ok()) return field.error(value.error());
  out = std::move(*value);
  return {};
}

base::Result<> read_string(const Field& field, std::string_view allowed,
                           std::optional<std::string>& out);
base::Result<> read_memory(const Field& field, std::optional<std::int64_t>& out);
base::Result<> read_duration(const Field& field, std::optional<std::chrono::milliseconds>& out);
base::Result<> read_count(const Field& field, int min, int max, std::optional<int>& out);
// true or false.
base::Result<> read_choice(const Field& field, std::optional<bool>& out);
// `elements` is what the list may have ("paths"), `element` what one of them is ("a path").
base::Result<std::vector<std::string>> read_list(const Field& field, std::string_view elements,
                                                 std::string_view element);

}  // namespace gangrun::job
