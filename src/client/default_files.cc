#include "client/default_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::client {

namespace {

namespace fs = std::filesystem;

using base::Result;

constexpr std::string_view kName = "gangrun.yaml";
constexpr mode_t kModeBits = 07777;

// `where` is the file itself, or a folder in which somebody could put another one in its place.
Result<> check_followed(const std::string& path, const std::string& where,
                        const struct stat& info) {
  const std::string why = why_not_followed(info.st_uid, info.st_mode, ::geteuid());
  if (why.empty()) return {};
  return base::invalid_argument(base::format(
      "{} is not followed: {}{}; or leave it out by --no-defaults or {}=1", path,
      where == path ? "it " : base::format("its folder {} ", where), why, kNoDefaultsVariable));
}

// All folders above, up to the user's home folder or the root.
Result<> check_folders(const std::string& path, const fs::path& real, const std::string& home) {
  fs::path folder = real.parent_path();
  while (true) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) {
      return base::from_errno(errno, folder.string());
    }
    GANGRUN_TRY(check_followed(path, folder.string(), info));
    if (folder == home || folder == folder.parent_path()) return {};
    folder = folder.parent_path();
  }
}

// None: there is no such file, and no link on the way to it that leads nowhere.
Result<std::optional<jobfile::DefaultFile>> read_if_there(const std::string& path,
                                                          const std::string& home) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    fs::path last = path;  // that is there, at least as a link
    while (::lstat(last.c_str(), &info) != 0 && last.has_relative_path()) last = last.parent_path();
    if (::stat(last.c_str(), &info) == 0) return std::optional<jobfile::DefaultFile>();
    return base::invalid_argument(base::format(
        "{} is a link to what is not there; allowed: a file of defaults, or none", last.string()));
  }
  if (S_ISDIR(info.st_mode)) {
    return base::invalid_argument(
        base::format("{} is a folder; allowed: a file of defaults, or none", path));
  }
  GANGRUN_ASSIGN(const base::UniqueFd file, base::open_file(path, O_RDONLY | O_CLOEXEC));
  if (::fstat(file.get(), &info) != 0) return base::from_errno(errno, path);
  GANGRUN_TRY(check_followed(path, path, info));
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed) return base::from_errno(failed.value(), path);
  const fs::path real_home = fs::weakly_canonical(home, failed);
  GANGRUN_TRY(check_folders(path, path, home));
  if (real != path) GANGRUN_TRY(check_folders(path, real, real_home.string()));
  // One byte more than may be: the reader of job files refuses it by name.
  GANGRUN_ASSIGN(std::string text, base::read_at(file.get(), 0, job::kMaxSpecBytes + 1, path));
  return std::optional(jobfile::DefaultFile{.path = path, .text = std::move(text)});
}

// As the XDG Base Directory Specification has it; empty: this user has none.
std::string user_folder(const Context& context) {
  const std::string given = context.variable("XDG_CONFIG_HOME");
  if (given.starts_with('/')) return given;
  const std::string home = context.variable("HOME");
  return home.starts_with('/') ? home + "/.config" : "";
}

}  // namespace

std::string why_not_followed(uid_t owner, mode_t mode, uid_t user) {
  if (owner != 0 && owner != user) {
    const std::string allowed = user == 0 ? "" : base::format(" or you (uid {})", user);
    return base::format("belongs to uid {}; allowed: root{}", owner, allowed);
  }
  // In a folder such as /tmp nobody else can put a file in place of this one.
  const bool is_sticky_folder = S_ISDIR(mode) && (mode & S_ISVTX) != 0;
  if ((mode & (S_IWGRP | S_IWOTH)) == 0 || is_sticky_folder) return "";
  return base::format(
      "has mode {:04o}, so that others than its owner may write there; allowed: at most {:04o} "
      "(chmod go-w)",
      mode & kModeBits, mode & kModeBits & ~static_cast<mode_t>(S_IWGRP | S_IWOTH));
}

Result<std::vector<jobfile::DefaultFile>> read_default_files(const Context& context) {
  std::vector<jobfile::DefaultFile> files;
  if (!context.variable(kNoDefaultsVariable).empty()) return files;
  std::string home = context.variable("HOME");
  while (home.ends_with('/')) home.pop_back();
  for (const std::string& folder : {context.system_folder, user_folder(context)}) {
    if (folder.empty()) continue;
    const std::string path = (fs::path(folder) / kName).lexically_normal().string();
    auto file = read_if_there(path, home);
    if (!file.ok()) return base::invalid_argument(file.error().message);
    if (*file) files.push_back(**std::move(file));
  }
  return files;
}

}  // namespace gangrun::client
