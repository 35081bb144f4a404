#include "client/plan_sources.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"
#include "base/strings.h"
#include "client/text.h"
#include "jobfile/plan_json.h"

namespace gangrun::client {

namespace {

using base::Json;

using Origins = std::map<std::string, std::string>;

struct Source {
  std::string field;
  std::string from;
  std::string where{};  // the file or the flag; empty: neither
  std::int64_t line = 0;

  static bool is_flag(const Source& source) { return source.from == "flag"; }
  static bool is_file(const Source& source) { return !source.where.empty() && !is_flag(source); }
  static bool has_line(const Source& source) { return is_file(source) && source.line > 0; }
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, Source, field, from),
                      base::row_when(&Source::is_flag, "flag", &Source::where),
                      base::row_when(&Source::is_file, "file", &Source::where),
                      base::row_when(&Source::has_line, "line", &Source::line));
  }
};

// Takes ":12" from the end of a text.
std::optional<std::int64_t> take_number(std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto number = base::parse_integer(text.substr(colon + 1));
  if (number) text.resize(colon);
  return number;
}

// An origin (jobfile::JobDraft) is "job.yaml:4:12: ", "-m: " or "after --: ".
Source source_of(const std::string& field, std::string origin, bool is_default) {
  while (origin.ends_with(' ') || origin.ends_with(':')) origin.pop_back();
  const bool is_flag = origin.starts_with('-') || origin.starts_with("after --");
  if (is_flag) return {field, "flag", std::move(origin)};
  Source source{field, is_default ? "defaults" : "job_file", std::move(origin)};
  if (take_number(source.where)) source.line = take_number(source.where).value_or(0);
  return source;
}

bool has_below(const Origins& origins, const std::string& path) {
  const std::string prefix = path + ".";
  const auto first = origins.lower_bound(prefix);
  return first != origins.end() && first->first.starts_with(prefix);
}

// Values that come from one place as a whole: numbers, texts, most lists.
class Walk {
 public:
  explicit Walk(const jobfile::Sources& sources) : sources_(sources) {}

  void see(const Json& value, const std::string& path) {
    const auto given = sources_.origins.find(path);
    const bool is_given = given != sources_.origins.end();
    const bool has_parts = has_below(sources_.origins, path);
    if (value.is_object() && (has_parts || !is_given)) return see_members(value, path);
    if (value.is_object() && value.empty()) return;
    if (value.is_array() && has_parts) return see_elements(value, path);
    if (!is_given) return found_.push_back({path, "built_in"});
    const auto by_default = sources_.defaults.find(path);
    const bool is_default =
        by_default != sources_.defaults.end() && by_default->second == given->second;
    found_.push_back(source_of(path, given->second, is_default));
  }
  [[nodiscard]] std::vector<Source> take() { return std::move(found_); }

 private:
  void see_members(const Json& value, const std::string& path) {
    for (const auto& [key, member] : value.items()) {
      see(member, path.empty() ? key : base::format("{}.{}", path, key));
    }
  }
  // The elements that a flag adds have origins of their own.
  void see_elements(const Json& value, const std::string& path) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string own = base::format("{}.{}", path, i);
      const std::string& known = sources_.origins.contains(own) ? own : path;
      const auto given = sources_.origins.find(known);
      if (given == sources_.origins.end()) {
        found_.push_back({own, "built_in"});
      } else {
        found_.push_back(source_of(own, given->second, false));
      }
    }
  }

  const jobfile::Sources& sources_;
  std::vector<Source> found_;
};

std::vector<Source> sources_of(const job::JobSpec& spec, const jobfile::Sources& sources) {
  Walk walk(sources);
  walk.see(jobfile::to_json(spec), "");
  return walk.take();
}

std::vector<Source> left_out_of(const jobfile::Sources& sources) {
  std::vector<Source> found;
  for (const auto& [path, origin] : sources.left_out) {
    found.push_back(source_of(path, origin, true));
  }
  return found;
}

std::string words_of(const Source& source) {
  if (source.where.empty()) return "built-in";
  return source.line == 0 ? source.where : base::format("{}:{}", source.where, source.line);
}

}  // namespace

Json sources_json(const job::JobSpec& spec, const jobfile::Sources& sources) {
  return base::JsonOf<std::vector<Source>>::write(sources_of(spec, sources));
}

Json left_out_json(const jobfile::Sources& sources) {
  return base::JsonOf<std::vector<Source>>::write(left_out_of(sources));
}

std::string defaults_in_use(const jobfile::Sources& sources) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> named;
  std::size_t others = 0;
  for (const auto& [path, origin] : sources.defaults) {
    const auto given = sources.origins.find(path);
    const bool counts = given != sources.origins.end() && given->second == origin;
    if (!counts || has_below(sources.defaults, path)) continue;
    if (named.size() == kMostNamed) {
      ++others;
    } else {
      named.push_back(base::format("{} ({})", path, words_of(source_of(path, origin, true))));
    }
  }
  std::string text = base::format("{}", base::join(named, ", "));
  if (others > 0) text += base::format(" and {} more", others);
  return text;
}

Lines sources_lines(const job::JobSpec& spec, const jobfile::Sources& sources) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Source& source : sources_of(spec, sources)) {
    if (source.from != "built_in") rows.emplace_back(words_of(source), source.field);
  }
  for (const Source& source : left_out_of(sources)) {
    rows.emplace_back(words_of(source),
                      base::format("{}, which is not used with `on: {}`", source.field, spec.on));
  }
  rows.emplace_back("built-in", rows.empty() ? "all values" : "all others");
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  Lines lines;
  lines.emplace_back("");
  lines.push_back(Line("where values come from", Paint::kBold));
  for (const auto& [from, field] : rows) {
    lines.push_back(Line(base::format("  {:<{}}  ", harmless_sentence(from), width), Paint::kDim)
                        .add(harmless_sentence(field)));
  }
  return lines;
}

}  // namespace gangrun::client
