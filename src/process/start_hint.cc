#include "process/start_hint.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/strings.h"

namespace gangrun::process {

namespace {

constexpr std::pair<const char*, const char*> kInterpreters[] = {{".py", "python3"},
                                                                 {".sh", "bash"}};

}  // namespace

std::string start_hint(const std::string& program, const std::string& folder) {
  const bool is_whole = folder.empty() || program.starts_with('/');
  const std::string path = is_whole ? program : folder + "/" + program;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const std::string name = base::shell_quote(program);
  if (::access(path.c_str(), X_OK) == 0) {
    return program.find('/') == std::string::npos ? "; use ./" + name : std::string();
  }
  for (const auto& [ending, interpreter] : kInterpreters) {
    if (program.ends_with(ending)) return std::string("; use ") + interpreter + " " + name;
  }
  return {};
}

}  // namespace gangrun::process
