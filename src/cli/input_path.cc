#include "cli/input_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "client/prepare.h"
#include "client/text.h"
#include "cluster/yarn/client/hadoop_access.h"
#include "hadoop/file_system.h"
#include "hadoop/web_hdfs.h"
#include "job/shipped_files.h"

namespace gangrun::cli {

namespace {

using base::Result;

constexpr std::chrono::seconds kQuestionTimeout(20);

base::Error refused_path(std::string_view flag, const std::string& value, std::string_view why) {
  return base::invalid_argument(
      base::format("{}: {}: {}", flag, client::path_in_quotes(value), why));
}

base::Error not_readable(std::string_view flag, const std::string& value, int error) {
  return refused_path(flag, value,
                      error == ENOENT ? "there is no such file or folder on this machine"
                                      : base::from_errno(error, "cannot be read").message);
}

// Reading one byte, or the names in a folder, needs the right to read.
Result<> read_from_cluster(const std::string& url, const client::Context& context) {
  GANGRUN_ASSIGN(const auto access, client::hadoop_access(context));
  GANGRUN_ASSIGN(hadoop::FileSystem system, hadoop::find_file_system(access->configuration, url));
  hadoop::WebHdfs files(std::move(system), hadoop::web_hdfs_options(access->account));
  const std::size_t authority = url.find("://") + 3;
  const std::size_t slash = url.find('/', authority);
  const std::string path = slash == std::string::npos ? "/" : url.substr(slash);
  const base::Instant deadline = context.clock.now() + kQuestionTimeout;
  GANGRUN_ASSIGN(const hadoop::FileStatus status, files.status(path, deadline));
  if (status.is_folder) {
    const auto names = files.list(path, deadline);
    return names.ok() ? Result<>() : names.error();
  }
  if (status.length == 0) return {};
  const auto read = files.read_range(path, 0, 1, deadline);
  return read.ok() ? Result<>() : read.error();
}

}  // namespace

Result<> check_local_file(std::string_view flag, const std::string& as_written,
                          const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_readable(flag, as_written, errno);
  if (!S_ISREG(info.st_mode))
    return refused_path(flag, as_written, "is not a file; allowed: a file");
  if (::access(path.c_str(), R_OK) != 0) return not_readable(flag, as_written, errno);
  return {};
}

Result<> check_input(std::string_view flag, const std::string& input,
                     const client::Context& context) {
  if (job::is_cluster_url(input)) {
    const Result<> read = read_from_cluster(input, context);
    return read.ok() ? read : refused_path(flag, input, read.error().message);
  }
  if (job::has_scheme(input)) return {};
  const std::string path = client::in_folder(context.folder, input);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_readable(flag, input, errno);
  const int wanted = S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK;
  if (::access(path.c_str(), wanted) != 0) return not_readable(flag, input, errno);
  return {};
}

}  // namespace gangrun::cli
