#include "base/file_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"

namespace gangrun::base {

namespace {

constexpr std::size_t kMaxDepth = 100;

std::string_view kind_of(mode_t mode) {
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISBLK(mode) || S_ISCHR(mode)) return "a device";
  return "neither a file nor a folder";
}

bool is_inside(std::string_view path, std::string_view folder) {
  return path == folder || folder == "/" ||
         (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

}  // namespace

Result<> FileTree::add(const std::string& name, const std::string& path) {
  for (const std::string& part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return invalid_argument(format("\"{}\" cannot be the name of a file", name));
    }
  }
  std::error_code error;
  root_ = std::filesystem::canonical(path, error).string();
  if (error) return from_errno(error.value(), format("find {}", path));
  above_.clear();
  return visit(name, root_);
}

Result<> FileTree::visit(const std::string& name, const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return from_errno(errno, format("look at {}", path));
  if (entries_.size() >= limits_.max_files) {
    return Error{Code::kResourceExhausted,
                 format("with {} there are more than the {} files and folders that are allowed",
                        path, limits_.max_files)};
  }
  Entry entry{path, S_ISDIR(status.st_mode), (status.st_mode & S_IXUSR) != 0, 0};
  if (!entry.is_folder) {
    if (!S_ISREG(status.st_mode)) {
      return invalid_argument(
          format("{} is {}; allowed: files and folders", path, kind_of(status.st_mode)));
    }
    entry.size = static_cast<std::uint64_t>(status.st_size);
    GANGRUN_TRY(count(entry));
  }
  if (!entries_.emplace(name, entry).second) {
    return invalid_argument(format("two files are to be called \"{}\", one is {}", name, path));
  }
  return entry.is_folder ? visit_folder(name, path, {status.st_dev, status.st_ino}) : Result<>();
}

Result<> FileTree::count(const Entry& entry) {
  bytes_ += entry.size;
  if (bytes_ <= limits_.max_bytes) return {};
  return Error{Code::kResourceExhausted,
               format("with {} ({}) the files have more than the {} that are allowed", entry.path,
                      size_text(entry.size), size_text(limits_.max_bytes))};
}

Result<> FileTree::visit_folder(const std::string& name, const std::string& path,
                                const std::pair<dev_t, ino_t>& identity) {
  if (std::find(above_.begin(), above_.end(), identity) != above_.end() ||
      above_.size() >= kMaxDepth) {
    return invalid_argument(
        format("{} leads in a circle, or too deep, by way of a symbolic link", path));
  }
  above_.push_back(identity);
  std::error_code error;
  for (std::filesystem::directory_iterator item(path, error), end; !error && item != end;
       item.increment(error)) {
    std::error_code unknown;  // what cannot be looked at is no link, and visit() says why
    const bool is_link = item->is_symlink(unknown);
    GANGRUN_TRY(visit_item(name, item->path().string(), is_link));
  }
  above_.pop_back();
  if (error) return from_errno(error.value(), format("read the folder {}", path));
  return {};
}

Result<> FileTree::visit_item(const std::string& name, const std::string& path, bool is_link) {
  if (is_link) {
    std::error_code error;
    const std::string real = std::filesystem::canonical(path, error).string();
    if (error) return from_errno(error.value(), format("follow the symbolic link {}", path));
    if (!limits_.may_lead_out && !is_inside(real, root_)) {
      return invalid_argument(
          format("the symbolic link {} leads out of {}, to {}", path, root_, real));
    }
  }
  return visit(name + path.substr(path.rfind('/')), path);
}

}  // namespace gangrun::base
