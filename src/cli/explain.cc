#include "cli/explain.h"

#include <algorithm>

#include "base/strings.h"
#include "job/choice.h"

namespace gangrun::cli {

namespace {

constexpr std::string_view kChapter = "## ";
constexpr std::string_view kSection = "### ";
constexpr std::string_view kNames = "Reason: ";

std::vector<std::string> names_in(std::string_view line) {
  std::vector<std::string> names;
  for (const std::string& word : base::split(line.substr(kNames.size()), ',')) {
    std::string_view name = base::trim(word);
    if (name.starts_with('`')) name.remove_prefix(1);
    if (name.ends_with('`')) name.remove_suffix(1);
    names.emplace_back(name);
  }
  return names;
}

// "[kubernetes.md](kubernetes.md)" as "kubernetes.md"; no "**" and no "*" around quotations.
std::string without_marks(std::string_view text) {
  std::string plain;
  bool in_code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') in_code = !in_code;
    if (in_code || (c != '*' && c != '[' && c != ']')) {
      plain += c;
    } else if (c == ']' && text.substr(i + 1).starts_with('(')) {
      i = std::min(text.find(')', i), text.size() - 1);
    }
  }
  return plain;
}

}  // namespace

std::vector<Explanation> explanations_in(std::string_view document) {
  std::vector<Explanation> found;
  bool in_section = false;
  for (const std::string& line : base::split(document, '\n')) {
    if (line.starts_with(kSection)) {
      in_section = true;
      found.push_back({{}, line.substr(kSection.size()), {}});
    } else if (line.starts_with(kChapter)) {
      in_section = false;
    } else if (in_section && found.back().reasons.empty() && line.starts_with(kNames)) {
      found.back().reasons = names_in(line);
    } else if (in_section) {
      found.back().text += line + "\n";
    }
  }
  std::erase_if(found, [](const Explanation& section) { return section.reasons.empty(); });
  for (Explanation& section : found) {
    section.text = without_marks(base::trim(section.text));
  }
  return found;
}

base::Result<Explanation> explanation_of(std::string_view reason) {
  std::vector<std::string> names;
  for (Explanation& section : explanations_in(kTroubleshooting)) {
    for (const std::string& name : section.reasons) {
      if (name == reason) return std::move(section);
      names.push_back(name);
    }
  }
  return job::not_one_of(reason, "a reason", names);
}

}  // namespace gangrun::cli
