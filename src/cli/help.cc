#include "cli/help.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"

namespace gangrun::cli {

namespace {

constexpr std::size_t kWidth = 100;

std::string flag_words(const client::Flag& flag) {
  std::string words = base::format("{}", base::join(names_of(flag), ", "));
  // Long names stand below each other.
  if (words.starts_with("--")) words = "    " + words;
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

std::vector<std::string> names_of(const client::Flag& flag) {
  std::vector<std::string> names = base::split(flag.names, ',');
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return !name.starts_with("--"); });
  return names;
}

const client::Flag* flag_named(const client::Command& command, const std::string& name) {
  const auto found = std::ranges::find_if(command.flags, [&](const client::Flag& flag) {
    const std::vector<std::string> names = names_of(flag);
    return std::ranges::find(names, name) != names.end();
  });
  return found == command.flags.end() ? nullptr : &*found;
}

bool is_list(const client::Word& word) {
  return std::visit(base::Overloaded{[](const auto*) { return false; },
                                     [](const std::vector<std::string>*) { return true; }},
                    word.target);
}

std::string name_of(const client::Word& word) { return word.name + (is_list(word) ? "..." : ""); }

std::string help_text(const client::Command& command, std::string_view parent) {
  const std::string name =
      parent.empty() ? command.name : base::format("{} {}", parent, command.name);
  std::string usage = name;
  if (!command.flags.empty()) usage += " [OPTIONS]";
  if (!command.commands.empty()) usage += " COMMAND";
  for (const client::Word& word : command.words) {
    usage += word.is_needed ? " " + name_of(word) : base::format(" [{}]", name_of(word));
  }
  if (command.rest != nullptr) usage += base::format(" [-- {}]", command.rest_name);
  std::string text = base::format("{}\n\nUsage: {}\n", command.summary, usage);
  std::vector<Row> rows;
  for (const client::Command& child : command.commands) rows.push_back({child.name, child.summary});
  text += rows_text("Commands", rows, width_of(rows));
  // In the order in which each began.
  using Group = std::pair<std::string_view, std::vector<Row>>;
  std::vector<Group> groups;
  for (const client::Flag& flag : command.flags) {
    const std::string_view title = flag.group.empty() ? "Options" : std::string_view(flag.group);
    auto group = std::ranges::find(groups, title, &Group::first);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
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
