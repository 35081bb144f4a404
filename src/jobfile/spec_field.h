#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobfile/yaml_tree.h"

// How the values of a job file are read: each by itself, with errors that begin with its place and
// its path. Which keys there are is not known here.
namespace gangrun::jobfile {

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

// Every key of a map, by its number among those that there are; an unknown one is an error that
// says which there are.
base::Result<> read_keys(const Field& field, const std::vector<std::string>& keys,
                         const std::function<base::Result<>(std::size_t, const Field&)>& read);

// The value of a number of JSON, times `scale`, if that is a whole number in this range.
std::optional<std::int64_t> number_in(const YamlNode& node, std::int64_t min, std::int64_t max,
                                      int scale = 1);

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

// `elements` is what the list may have ("paths"), `element` what one of them is ("a path").
base::Result<std::vector<std::string>> read_list(const Field& field, std::string_view elements,
                                                 std::string_view element);

}  // namespace gangrun::jobfile
