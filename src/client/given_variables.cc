#include "client/given_variables.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "client/prepare.h"
#include "jobfile/validate.h"

namespace gangrun::client {

namespace {

using base::Result;

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20U;

using Environment = std::map<std::string, std::string>;

// "worker:NAME" or "NAME" with its value here; what has one already stays.
Result<std::string> with_value(std::string text, const Environment& environment) {
  if (text.find('=') != std::string::npos) return text;
  const std::string name = text.substr(text.rfind(':') + 1);  // 0 where there is none
  if (auto valid = jobfile::check_variable_name(name); !valid.ok()) {
    return valid.error().context(base::format("'{}'", text));
  }
  const auto found = environment.find(name);
  if (found == environment.end()) {
    return base::invalid_argument(base::format(
        "'{0}': {1} is not set here; write {0}=VALUE, or export {1} first", text, name));
  }
  return std::move(text) + "=" + found->second;
}

Result<std::string> read_line(std::string_view line, const Environment& environment) {
  const std::string name(line.substr(0, line.find('=')));
  if (auto valid = jobfile::check_variable_name(name); !valid.ok()) {
    return valid.error().context(base::format("'{}'", name));
  }
  return with_value(std::string(line), environment);
}

Result<std::vector<std::string>> read_file(const std::string& path,
                                           const Environment& environment) {
  GANGRUN_ASSIGN(const std::string text, base::read_file(path, kMaxFileBytes));
  GANGRUN_ASSIGN(std::string_view rest, base::without_mark(text));
  std::vector<std::string> variables;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    GANGRUN_ASSIGN(std::string variable,
                   read_line(line, environment).context(base::format("line {}", number)));
    variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace

Result<> settle_variables(RunOptions& options, const Environment& environment,
                          const std::string& folder) {
  std::vector<std::string> all;
  for (const std::string& file : options.env_files) {
    auto variables = read_file(in_folder(folder, file), environment);
    if (!variables.ok()) return variables.error().context(base::format("--env-file {}", file));
    all.insert(all.end(), variables->begin(), variables->end());
  }
  for (const std::string& text : options.flags.env) {
    GANGRUN_ASSIGN(std::string variable, with_value(text, environment).context("-e"));
    all.push_back(std::move(variable));
  }
  options.flags.env = std::move(all);
  return {};
}

}  // namespace gangrun::client
