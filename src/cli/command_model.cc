#include "cli/command_model.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cli {

namespace {

constexpr std::size_t kWidth = 100;

std::string flag_words(const FlagModel& flag) {
  std::string words = base::format("{}", base::join(flag.names, ", "));
  // Long names stand below each other.
  if (!flag.names.empty() && flag.names.front().starts_with("--")) words = "    " + words;
  if (!flag.value.empty()) words += " " + flag.value;
  return words;
}

// `text` in lines of at most kWidth, the later ones indented by `indent`.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (const std::string& word : base::split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

struct Row {
  std::string left;
  std::string right;
};

// The width of the left column.
std::size_t width_of(const std::vector<Row>& rows) {
  constexpr std::size_t kWidest = 30;
  std::size_t left = 0;
  for (const Row& row : rows) left = std::max(left, row.left.size());
  return std::min(left, kWidest);
}

std::string rows_text(std::string_view title, const std::vector<Row>& rows, std::size_t left) {
  if (rows.empty()) return {};
  std::string text = base::format("\n{}:\n", title);
  for (const Row& row : rows) {
    const std::size_t indent = left + 4;
    if (row.left.size() > left) {
      text += base::format("  {}\n{}{}\n", row.left, std::string(indent, ' '),
                           wrapped(row.right, indent));
    } else {
      text += base::format("  {:<{}}  {}\n", row.left, left, wrapped(row.right, indent));
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> choices_of(std::string_view value) {
  if (value.find('|') == std::string_view::npos) return {};
  return base::split(value, '|');
}

std::string help_text(const CommandModel& command, std::string_view parent) {
  const std::string name =
      parent.empty() ? command.name : base::format("{} {}", parent, command.name);
  std::string usage = name;
  if (!command.flags.empty()) usage += " [OPTIONS]";
  if (!command.commands.empty()) usage += " COMMAND";
  for (const std::string& positional : command.positionals) usage += " " + positional;
  std::string text = base::format("{}\n\nUsage: {}\n", command.summary, usage);
  std::vector<Row> rows;
  for (const CommandModel& child : command.commands) rows.push_back({child.name, child.summary});
  text += rows_text("Commands", rows, width_of(rows));
  // In the order in which each began.
  std::vector<std::pair<std::string_view, std::vector<Row>>> groups;
  for (const FlagModel& flag : command.flags) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& one) { return one.first == flag.group; });
    if (group == groups.end()) group = groups.insert(group, {flag.group, {}});
    group->second.push_back({flag_words(flag), flag.help});
  }
  std::size_t left = 0;
  for (const auto& [title, flags] : groups) left = std::max(left, width_of(flags));
  for (const auto& [title, flags] : groups) text += rows_text(title, flags, left);
  if (!command.footer.empty()) text += "\n" + command.footer;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace gangrun::cli
