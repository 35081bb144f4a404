#include "cli/forgotten_dashes.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "cli/help.h"
#include "client/prepare.h"

namespace gangrun::cli {

namespace {

bool takes_a_value(const client::Command& run, const std::string& word) {
  const client::Flag* flag = flag_named(run, word);
  return flag != nullptr && !flag->value.empty();
}

// Which of the words after "run" is the first one of the tasks' command.
std::optional<std::size_t> begin_of_command(const client::Command& run,
                                            const std::vector<std::string>& arguments) {
  bool has_job_file = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i].starts_with('-')) {
      if (takes_a_value(run, arguments[i])) ++i;
    } else if (!client::is_named_as_job_file(arguments[i])) {
      return i;
    } else if (std::exchange(has_job_file, true)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> line_with_dashes(const client::Command& run,
                                            const std::vector<std::string>& arguments,
                                            const std::string& unknown) {
  const auto begin = begin_of_command(run, arguments);
  if (!begin) return std::nullopt;
  const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(*begin);
  if (std::find(arguments.begin(), first, unknown) != first) return std::nullopt;
  std::string line = "gangrun";
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (word == first) line += " --";
    line += " " + base::shell_quote(*word);
  }
  return line;
}

}  // namespace gangrun::cli
