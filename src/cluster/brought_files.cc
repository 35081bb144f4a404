#include "cluster/brought_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/random.h"
#include "base/sizes.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

using base::Result;

constexpr std::uint64_t kMaxFiles = 100'000;
constexpr std::size_t kMaxShownName = 200;
constexpr std::size_t kMaxNamedSkipped = 5;

base::Error refused(std::string_view name, std::string_view why) {
  return base::invalid_argument(base::format("'{}' {}", base::shorten(name, kMaxShownName), why));
}

// The parts of a path that leads nowhere else.
Result<std::vector<std::string>> parts_of(const std::string& name) {
  std::vector<std::string> parts = base::split(name, '/');
  const bool leads_out = std::ranges::any_of(parts, [](const std::string& part) {
    return part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos;
  });
  if (leads_out || parts.size() > kMaxOutputDepth) return refused(name, "is no file of a folder");
  return parts;
}

// An error of all files, and not of one of them.
bool is_of_all(int error) {
  constexpr std::array kAll = {ENOSPC, EDQUOT, EIO, EROFS, EMFILE, ENFILE, ENOMEM};
  return std::ranges::find(kAll, error) != kAll.end();
}

}  // namespace

// No part of the way may be a link that another file has made.
Result<> BroughtFiles::open_parent(const std::vector<std::string>& parts) {
  GANGRUN_TRY(base::make_folders(folder_, 0755));
  if (!beside_.valid()) {
    const std::string beside = std::filesystem::path(folder_).parent_path().string();
    beside_.reset(::open(beside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!beside_.valid()) return base::from_errno(errno, base::format("open {}", beside));
  }
  parent_.reset(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!parent_.valid()) return base::from_errno(errno, base::format("open {}", folder_));
  for (const std::string& part : parts) {
    if (::mkdirat(parent_.get(), part.c_str(), 0755) != 0 && errno != EEXIST) {
      return trouble(errno);
    }
    base::UniqueFd next(
        ::openat(parent_.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!next.valid()) return trouble(errno);
    parent_ = std::move(next);
  }
  return {};
}

// One file that cannot be here does not stop the others.
Result<> BroughtFiles::trouble(int error) {
  drop_part();
  if (is_of_all(error)) {
    return base::from_errno(error, base::format("write {}/{}", folder_, name_));
  }
  is_skipping_ = true;
  ++skipped_;
  // A host may say any size.
  const bool is_too_much = size_ > kMaxSkippedBytes - skipped_bytes_;
  skipped_bytes_ += is_too_much ? 0 : size_;
  if (limit_ == 0 && is_too_much) {
    return refused(name_, base::format("and others that have no place here have more than {}",
                                       base::size_text(kMaxSkippedBytes)));
  }
  if (named_.size() < kMaxNamedSkipped) {
    named_.push_back({name_, std::generic_category().message(error)});
  }
  return {};
}

Result<> BroughtFiles::check(const BroughtFile& output) {
  if (left_ > 0) return refused(output.name, "comes before another file is whole");
  if (++begun_ > kMaxFiles) return refused(output.name, "is one of too many files");
  if (limit_ > 0 && output.size > limit_ - std::min(limit_, announced_)) {
    return refused(output.name, "is more than was requested");
  }
  return {};
}

Result<> BroughtFiles::begin(const BroughtFile& output) {
  GANGRUN_TRY(check(output));
  GANGRUN_ASSIGN(std::vector<std::string> parts, parts_of(output.name));
  if (!output.target.empty() && !stays_inside(output.target, parts.size() - 1)) {
    return refused(output.name, "is a link that leads out of its folder");
  }
  name_ = output.name;
  left_ = output.target.empty() && !output.is_folder ? output.size : 0;
  size_ = left_;
  // Each size is below the limit, where there is one.
  announced_ += limit_ > 0 ? size_ : 0;
  is_skipping_ = false;
  if (output.is_folder) {
    GANGRUN_TRY(open_parent(parts));
    if (!is_skipping_) ++folders_;
    return {};
  }
  base_name_ = std::move(parts.back());
  parts.pop_back();
  GANGRUN_TRY(open_parent(parts));
  if (is_skipping_) return {};
  // No file that a task can name, and short: its own name may be as long as names can be.
  part_ = base::name_until_whole();
  if (!output.target.empty()) {
    if (::symlinkat(output.target.c_str(), beside_.get(), part_.c_str()) != 0) {
      return trouble(errno);
    }
    has_part_ = true;
    return finish();
  }
  const mode_t mode = output.is_executable ? 0755 : 0644;
  file_.reset(::openat(beside_.get(), part_.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file_.valid()) return trouble(errno);
  has_part_ = true;
  return left_ == 0 ? finish() : Result<>();
}

Result<> BroughtFiles::add(std::string_view bytes) {
  if (left_ == 0 || bytes.size() > left_) return base::invalid_argument("no file was announced");
  if (!is_skipping_) {
    GANGRUN_TRY(base::write_all(file_.get(), bytes, base::format("{}/{}", folder_, name_)));
  }
  left_ -= bytes.size();
  return left_ == 0 && !is_skipping_ ? finish() : Result<>();
}

Result<> BroughtFiles::finish() {
  file_.reset();
  if (::renameat(beside_.get(), part_.c_str(), parent_.get(), base_name_.c_str()) != 0) {
    return trouble(errno);
  }
  has_part_ = false;
  ++files_;
  bytes_ += size_;
  return {};
}

void BroughtFiles::drop_part() {
  file_.reset();
  if (std::exchange(has_part_, false)) (void)::unlinkat(beside_.get(), part_.c_str(), 0);
}

void BroughtFiles::drop() {
  drop_part();
  size_ -= left_;
  left_ = 0;
}

std::string BroughtFiles::skipped_words() const {
  if (skipped_ == 0) return {};
  return base::format("could not be written to {}: {}", folder_, odd_words(named_, skipped_));
}

}  // namespace gangrun::cluster
