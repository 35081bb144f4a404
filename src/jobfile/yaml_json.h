#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

// YAML that others write and read: kubeconfigs, pod templates, manifests.
namespace gangrun::jobfile {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{4} << 20U;
// The most values of the text, and again of what aliases (*name) stand for.
inline constexpr std::size_t kMaxYamlValues = 200'000;
inline constexpr std::size_t kMaxYamlDepth = 64;

// The one document of `text` as kubectl takes it: scalars by yaml_scalar(), keys that are numbers
// or truth values as texts, aliases and merge keys ("<<") followed. An empty text is null. Errors
// are one sentence that begins with "line 3, column 7: " where there is a place, and show nothing
// of the text but keys that are given twice.
base::Result<base::Json> yaml_to_json(std::string_view text);

// In block style, a line's end last; reads back as the same value by kubectl and yaml_to_json().
// Texts are quoted where they could be taken for something else; those of several lines are literal
// blocks where that keeps every byte. Bytes that are not UTF-8 become the replacement character.
std::string json_to_yaml(const base::Json& json);

}  // namespace gangrun::jobfile
