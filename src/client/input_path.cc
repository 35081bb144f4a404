#include "client/input_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "client/prepare.h"
#include "client/text.h"

namespace gangrun::client {

namespace {

using base::Result;

base::Error not_readable(std::string_view flag, const std::string& value, int error) {
  return refused_path(flag, value,
                      error == ENOENT ? "there is no such file or folder on this machine"
                                      : base::from_errno(error, "cannot be read").message);
}

}  // namespace

base::Error refused_path(std::string_view flag, const std::string& value, std::string_view why) {
  return base::invalid_argument(base::format("{}: {}: {}", flag, path_in_quotes(value), why));
}

Result<> check_local_file(std::string_view flag, const std::string& as_written,
                          const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_readable(flag, as_written, errno);
  if (!S_ISREG(info.st_mode))
    return refused_path(flag, as_written, "is not a file; allowed: a file");
  if (::access(path.c_str(), R_OK) != 0) return not_readable(flag, as_written, errno);
  return {};
}

Result<> check_local_input(std::string_view flag, const std::string& input,
                           const std::string& folder) {
  const std::string path = in_folder(folder, input);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_readable(flag, input, errno);
  const int wanted = S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK;
  if (::access(path.c_str(), wanted) != 0) return not_readable(flag, input, errno);
  return {};
}

}  // namespace gangrun::client
