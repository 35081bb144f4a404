#include "hadoop/class_path.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::hadoop {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEveryJar = "/*";

bool is_part_of_name(char c) { return base::is_letter_or_digit(c) || c == '_'; }

// The value of a variable at `at`, and where the text goes on.
struct Reference {
  std::string name;
  std::size_t end = 0;
};

std::optional<Reference> reference_between(std::string_view text, std::size_t start,
                                           std::string_view closing) {
  const std::size_t end = text.find(closing, start);
  if (end == std::string_view::npos) return std::nullopt;
  return Reference{std::string(text.substr(start, end - start)), end + closing.size()};
}

std::optional<Reference> reference_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("{{")) return reference_between(text, at + 2, "}}");
  if (rest.starts_with("${")) return reference_between(text, at + 2, "}");
  if (!rest.starts_with("$")) return std::nullopt;
  std::size_t end = at + 1;
  while (end < text.size() && is_part_of_name(text[end])) ++end;
  return Reference{std::string(text.substr(at + 1, end - at - 1)), end};
}

std::optional<std::string> value_of(const std::string& name, const NodeVariable& variable) {
  auto value = variable(name);
  if (value && !value->empty()) return value;
  const bool is_a_home = name.starts_with("HADOOP_") && name.ends_with("_HOME");
  if (!is_a_home || name == "HADOOP_HOME") return std::nullopt;
  return value_of("HADOOP_HOME", variable);
}

// None where one of its variables is not set.
std::optional<std::string> with_values(std::string_view entry, const NodeVariable& variable) {
  std::string text;
  for (std::size_t at = 0; at < entry.size();) {
    const auto reference = reference_at(entry, at);
    if (!reference) {
      text += entry[at++];
      continue;
    }
    const auto value = value_of(reference->name, variable);
    if (!value) return std::nullopt;
    text += *value;
    at = reference->end;
  }
  return text;
}

// In the order of their names, so that the same class comes from the same jar on every node.
std::vector<std::string> jars_of(const std::string& folder) {
  std::vector<std::string> jars;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string ending = entry->path().extension().string();
    if (ending == ".jar" || ending == ".JAR") jars.push_back(entry->path().string());
  }
  std::sort(jars.begin(), jars.end());
  return jars;
}

}  // namespace

base::Result<std::string> class_path(std::string_view property, const NodeVariable& variable) {
  std::vector<std::string> entries;
  std::set<std::string> known;
  bool has_jar = false;
  const auto add = [&](const std::string& entry, bool is_jar) {
    has_jar |= is_jar;
    if (known.insert(entry).second) entries.push_back(entry);
  };
  const auto add_existing = [&](const std::string& entry) {
    std::error_code failed;
    if (fs::exists(entry, failed)) add(entry, fs::is_regular_file(entry, failed));
  };
  if (const auto folder = value_of("HADOOP_CONF_DIR", variable)) add_existing(*folder);
  for (const std::string& part : base::split(property, ',')) {
    const auto entry = with_values(base::trim(part), variable);
    if (!entry || entry->empty()) continue;
    if (!entry->ends_with(kEveryJar)) {
      add_existing(*entry);
      continue;
    }
    const std::string folder = entry->substr(0, entry->size() - kEveryJar.size());
    for (const std::string& jar : jars_of(folder)) add(jar, true);
  }
  if (!has_jar) return std::string();
  std::string text = base::format("{}", base::join(entries, ":"));
  if (text.size() <= kMaxClassPathBytes) return text;
  return base::Error{base::Code::kResourceExhausted,
                     base::format("the class path of {} has {} bytes; allowed: up to {}",
                                  kClassPathProperty, text.size(), kMaxClassPathBytes)};
}

std::optional<std::string> jvm_library_folder(const std::string& java_home) {
  constexpr std::array<std::string_view, 4> kFolders{
      "/lib/server", "/jre/lib/server", "/jre/lib/amd64/server", "/jre/lib/aarch64/server"};
  for (const std::string_view folder : kFolders) {
    std::string path = base::format("{}{}", java_home, folder);
    std::error_code failed;
    if (fs::exists(path + "/libjvm.so", failed)) return path;
  }
  return std::nullopt;
}

}  // namespace gangrun::hadoop
