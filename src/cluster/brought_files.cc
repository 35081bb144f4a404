#include "cluster/brought_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

using base::Result;

constexpr std::uint64_t kMaxFiles = 100'000;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxShownName = 200;
constexpr const char* kPart = ".gangrun-part";

base::Error refused(std::string_view name, std::string_view why) {
  return base::invalid_argument(base::format("'{}' {}", base::shorten(name, kMaxShownName), why));
}

// The parts of a path that leads nowhere else.
Result<std::vector<std::string>> parts_of(const std::string& name) {
  std::vector<std::string> parts = base::split(name, '/');
  const bool leads_out = std::ranges::any_of(parts, [](const std::string& part) {
    return part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos;
  });
  if (leads_out || parts.size() > kMaxDepth) return refused(name, "is no file of a folder");
  return parts;
}

// Whether it stays in the folder, from `depth` folders below it, whatever other links there are.
bool stays_inside(const std::string& target, std::size_t depth) {
  if (target.empty() || target.front() == '/' || target.find('\0') != std::string::npos) {
    return false;
  }
  bool is_down = false;
  for (const std::string& part : base::split(target, '/')) {
    if (part == "..") {
      if (is_down || depth == 0) return false;
      --depth;
    } else if (!part.empty() && part != ".") {
      is_down = true;
    }
  }
  return true;
}

}  // namespace

// No part of the way may be a link that another file has made.
Result<base::UniqueFd> BroughtFiles::open_parent(const std::string& name) {
  GANGRUN_ASSIGN(std::vector<std::string> parts, parts_of(name));
  base_name_ = std::move(parts.back());
  parts.pop_back();
  GANGRUN_TRY(base::make_folders(folder_, 0755));
  base::UniqueFd at(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!at.valid()) return base::from_errno(errno, base::format("open {}", folder_));
  for (const std::string& part : parts) {
    if (::mkdirat(at.get(), part.c_str(), 0755) != 0 && errno != EEXIST) {
      return base::from_errno(errno, base::format("make the folder of {}/{}", folder_, name));
    }
    base::UniqueFd next(
        ::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!next.valid()) {
      return base::from_errno(errno, base::format("open the folder of {}/{}", folder_, name));
    }
    at = std::move(next);
  }
  return at;
}

Result<> BroughtFiles::begin(const BroughtFile& output) {
  if (file_.valid()) return refused(output.name, "comes before another file is whole");
  if (++files_ > kMaxFiles) return refused(output.name, "is one of too many files");
  if (limit_ > 0 && output.size > limit_ - std::min(limit_, bytes_)) {
    return refused(output.name, "is more than was asked for");
  }
  if (!output.target.empty()) return link(output);
  GANGRUN_ASSIGN(parent_, open_parent(output.name));
  const mode_t mode = output.is_executable ? 0755 : 0644;
  const std::string part = base_name_ + kPart;
  (void)::unlinkat(parent_.get(), part.c_str(), 0);
  file_.reset(::openat(parent_.get(), part.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file_.valid()) {
    return base::from_errno(errno, base::format("write {}/{}", folder_, output.name));
  }
  left_ = output.size;
  return left_ == 0 ? finish() : Result<>();
}

Result<> BroughtFiles::link(const BroughtFile& output) {
  GANGRUN_ASSIGN(const base::UniqueFd parent, open_parent(output.name));
  const auto depth =
      static_cast<std::size_t>(std::count(output.name.begin(), output.name.end(), '/'));
  // One that leads elsewhere on its host has no meaning here.
  if (!stays_inside(output.target, depth)) {
    --files_;
    return {};
  }
  const std::string part = base_name_ + kPart;
  (void)::unlinkat(parent.get(), part.c_str(), 0);
  if (::symlinkat(output.target.c_str(), parent.get(), part.c_str()) != 0 ||
      ::renameat(parent.get(), part.c_str(), parent.get(), base_name_.c_str()) != 0) {
    return base::from_errno(errno, base::format("write {}/{}", folder_, output.name));
  }
  return {};
}

Result<> BroughtFiles::add(std::string_view bytes) {
  if (!file_.valid() || bytes.size() > left_)
    return base::invalid_argument("no file was announced");
  GANGRUN_TRY(base::write_all(file_.get(), bytes, base::format("{}/{}", folder_, base_name_)));
  left_ -= bytes.size();
  bytes_ += bytes.size();
  return left_ == 0 ? finish() : Result<>();
}

Result<> BroughtFiles::finish() {
  file_.reset();
  const std::string part = base_name_ + kPart;
  if (::renameat(parent_.get(), part.c_str(), parent_.get(), base_name_.c_str()) != 0) {
    const int failed = errno;
    (void)::unlinkat(parent_.get(), part.c_str(), 0);
    return base::from_errno(failed, base::format("write {}/{}", folder_, base_name_));
  }
  return {};
}

void BroughtFiles::drop() {
  if (!file_.valid()) return;
  file_.reset();
  --files_;
  (void)::unlinkat(parent_.get(), (base_name_ + kPart).c_str(), 0);
}

}  // namespace gangrun::cluster
