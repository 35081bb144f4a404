#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace gangrun::jobfile {

// A job file nests five levels; what is deeper is refused before it can cost a stack.
inline constexpr std::size_t kMaxSpecDepth = 16;
inline constexpr std::size_t kMaxSpecNodes = 200'000;

// A position in a text, counted from 1; 0 is "nowhere".
struct Mark {
  int line = 0;
  int column = 0;
};

// Why a text is not taken, and where.
struct YamlRefusal {
  Mark mark;
  std::string text;
};

// A place that lies behind the last line of a text is the end of that line, as an editor shows it.
Mark in_text(std::string_view text, Mark mark);

// The first tab that indents a line, up to line `last_line`, as why the text is no YAML; none: it
// has another reason.
std::optional<YamlRefusal> indented_by_tab(std::string_view text, int last_line);

// One value of a YAML document. Scalars keep the text that the user wrote.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Key {
    std::string name;
    Mark mark;
  };

  Kind kind = Kind::kNull;
  Mark mark;
  std::string text;                // kScalar
  std::vector<Key> keys;           // kMap: one for each child, in the user's order, all different
  std::vector<YamlNode> children;  // kList, kMap
  bool is_quoted = false;          // kScalar: a text, whatever it looks like
  // kScalar: what a number of JSON says. 2.0 is none: as in YAML, only its text tells.
  std::optional<double> number{};
};

// The one document of `text`, which must be UTF-8, of at most kMaxSpecBytes. Refused: anchors that
// are used, tags, keys that are no plain names or stand twice, control characters. Errors begin
// with "source:line:column: ".
base::Result<YamlNode> parse_yaml(std::string_view text, const std::string& source);

// The same tree of a JSON value, without marks.
base::Result<YamlNode> yaml_from_json(const base::Json& json);

// The bytes of a YAML text that a parser would take for its end, or for another encoding.
std::optional<YamlRefusal> find_bad_bytes(std::string_view text);

// "job.yaml:4:12: ", or "job.yaml: " where there is no mark.
std::string position_text(const std::string& source, Mark mark);

// The value of a part of a job file that goes to others as it is: maps and lists as they are,
// scalars that are not quoted by yaml_scalar().
base::Json json_value(const YamlNode& node);

}  // namespace gangrun::jobfile
