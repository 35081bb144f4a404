#include "ssh/node/incoming_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::ssh::node {

bool leads_out(const std::string& name) {
  const std::filesystem::path path(name);
  return path.empty() || path.is_absolute() ||
         std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

base::Result<> IncomingFile::begin(const std::string& folder, const ssh::FileMessage& message) {
  if (file_.valid()) {
    return base::invalid_argument(
        base::format("{} is not whole: {} bytes are missing", path_, left_));
  }
  if (leads_out(message.name)) {
    return base::invalid_argument(
        base::format("'{}' is no file of a working folder", message.name));
  }
  path_ = base::format("{}/{}", folder, message.name);
  if (message.is_folder) return base::make_folders(path_, 0700);
  GANGRUN_TRY(base::make_folders(std::filesystem::path(path_).parent_path().string(), 0700));
  const mode_t mode = message.is_executable ? 0700 : 0600;
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file_.valid()) return base::from_errno(errno, base::format("open {}", path_));
  left_ = message.size;
  // A program that is open for writing cannot be executed.
  if (left_ == 0) file_.reset();
  return {};
}

base::Result<> IncomingFile::add(std::string_view bytes) {
  if (!file_.valid() || bytes.size() > left_) {
    return base::invalid_argument("bytes of a file came that nobody announced");
  }
  left_ -= bytes.size();
  GANGRUN_TRY(base::write_all(file_.get(), bytes, path_));
  if (left_ == 0) file_.reset();
  return {};
}

}  // namespace gangrun::ssh::node
