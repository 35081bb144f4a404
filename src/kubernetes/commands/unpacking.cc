#include "kubernetes/commands/unpacking.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "process/engine.h"

namespace gangrun::kubernetes::commands {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLongest(10);
constexpr std::size_t kToldBytes = 300;
constexpr std::size_t kToldNames = 3;
constexpr std::size_t kToldNameBytes = 80;

// The mode of the folder until only what may be there is left: nobody else comes in.
constexpr mode_t kClosed = 0700;
constexpr mode_t kOpen = 0755;
// The permissions that a file or folder may have: no setuid, no setgid, no sticky bit, nothing for
// others to write.
constexpr mode_t kPermitted = 0755;

// A header of a tar file, and the sum in it of all its bytes: octal digits, for which spaces count.
constexpr std::size_t kHeaderBytes = 512;
constexpr std::size_t kSumAt = 148;
constexpr std::size_t kSumBytes = 8;

// Whether it begins with a header, or with the zeros that end an archive. Whatever else there is
// the program takes for a compressed archive if it can: a small one may have no end.
bool begins_as_tar(std::string_view block) {
  if (block.size() < kHeaderBytes) return false;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    const bool is_in_sum = i >= kSumAt && i < kSumAt + kSumBytes;
    sum += is_in_sum ? std::uint64_t{' '} : static_cast<unsigned char>(block[i]);
  }
  const bool is_zero = block.find_first_not_of('\0') == std::string_view::npos;
  const std::string_view field = block.substr(kSumAt, kSumBytes);
  const std::string digits(field.substr(0, field.find_first_not_of("01234567 ")));
  return is_zero || std::strtoull(digits.c_str(), nullptr, 8) == sum;
}

// Whether a link leads to something in `folder` (canonical), or to nothing in it yet.
bool leads_inside(const fs::path& link, const fs::path& folder) {
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(link, failed);
  if (failed) return false;
  const fs::path from_folder = target.lexically_relative(folder);
  return !from_folder.empty() && *from_folder.begin() != "..";
}

// Takes away what no output is, and rights that only this machine gives.
class Sweep {
 public:
  // No file may have more bytes than the archive from which it came.
  Sweep(fs::path folder, std::uintmax_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  base::Result<> run() {
    std::vector<fs::path> folders{folder_};
    while (!folders.empty()) {
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      std::error_code failed;
      for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
           it.increment(failed)) {
        GANGRUN_TRY(look_at(it->path(), folders));
      }
      if (failed) return base::from_errno(failed.value(), folder.string());
    }
    return {};
  }

  // In words; empty: nothing. An archive may have millions of them.
  [[nodiscard]] std::string removed() const {
    if (removed_ == 0) return {};
    const std::size_t more = removed_ - told_.size();
    std::string names;
    for (const std::string& name : told_) names += (names.empty() ? "" : ", ") + name;
    return more == 0 ? names : base::format("{} and {} more", names, more);
  }

 private:
  base::Result<> look_at(const fs::path& path, std::vector<fs::path>& folders) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return base::from_errno(errno, path.string());
    if (S_ISLNK(info.st_mode)) return leads_inside(path, folder_) ? base::Result<>() : remove(path);
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && !S_ISREG(info.st_mode)) return remove(path);
    if (!is_folder && std::cmp_greater(info.st_size, most_bytes_)) return remove(path);
    const mode_t mode = (info.st_mode & kPermitted) | (is_folder ? S_IRWXU : S_IRUSR | S_IWUSR);
    if (::chmod(path.c_str(), mode) != 0) return base::from_errno(errno, path.string());
    if (is_folder) folders.push_back(path);
    return {};
  }

  base::Result<> remove(const fs::path& path) {
    if (++removed_; told_.size() < kToldNames) {
      const std::string name = path.lexically_relative(folder_).string();
      told_.push_back(base::shorten(base::printable(name), kToldNameBytes));
    }
    std::error_code failed;
    fs::remove(path, failed);
    if (failed) return base::from_errno(failed.value(), path.string());
    return {};
  }

  const fs::path folder_;
  const std::uintmax_t most_bytes_;
  std::size_t removed_ = 0;
  std::vector<std::string> told_;  // the first of them
};

base::Result<> set_mode(const std::string& folder, mode_t mode) {
  if (::chmod(folder.c_str(), mode) != 0) return base::from_errno(errno, folder);
  return {};
}

}  // namespace

base::Result<std::string> unpack_tar(const std::string& archive, const std::string& folder) {
  std::string header(kHeaderBytes, '\0');
  std::ifstream file(archive, std::ios::binary);
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  header.resize(static_cast<std::size_t>(file.gcount()));
  if (!begins_as_tar(header)) {
    return base::Error{base::Code::kDataLoss, "what was sent does not begin as a tar file does"};
  }
  GANGRUN_TRY(set_mode(folder, kClosed));
  GANGRUN_ASSIGN(
      const auto answer,
      process::ask({"tar", "--extract", "--no-same-owner", "--no-same-permissions", "--no-xattrs",
                    "--no-acls", "--no-selinux", "--file", archive, "--directory", folder},
                   std::chrono::steady_clock::now() + kLongest));
  std::error_code failed;
  const fs::path whole = fs::canonical(folder, failed);
  if (failed) return base::from_errno(failed.value(), folder);
  const std::uintmax_t archive_bytes = fs::file_size(archive, failed);
  if (failed) return base::from_errno(failed.value(), archive);
  Sweep sweep(whole, archive_bytes);
  GANGRUN_TRY(sweep.run());
  GANGRUN_TRY(set_mode(folder, kOpen));
  if (answer.status != 0) {
    return base::Error{
        base::Code::kDataLoss,
        base::format("tar ended with status {}: {}", answer.status,
                     base::shorten(base::printable(base::trim(answer.output)), kToldBytes))};
  }
  if (sweep.removed().empty()) return std::string();
  return base::format(
      "left out, as no output is like that (only files of the size that was sent, "
      "folders, and links to any of them): {}",
      sweep.removed());
}

}  // namespace gangrun::kubernetes::commands
