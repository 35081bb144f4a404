#include "kubernetes/pods/outputs_archive.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::kubernetes::pods {

namespace {

// After so many bytes the disk is checked again.
constexpr std::uint64_t kLook = std::uint64_t{4} << 20U;

std::string size_words(std::uint64_t bytes) {
  return job::memory_text(static_cast<std::int64_t>(bytes >> 20U));
}

}  // namespace

OutputsArchive::OutputsArchive(std::string path, Limits limits)
    : path_(std::move(path)), limits_(std::move(limits)) {}

OutputsArchive::~OutputsArchive() {
  if (!file_.valid()) return;
  std::error_code failed;
  std::filesystem::remove(path_, failed);
}

base::Result<> OutputsArchive::begin() {
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file_.valid()) return base::from_errno(errno, path_);
  return has_room(0);
}

base::Result<> OutputsArchive::put(std::string_view piece) {
  bytes_ += piece.size();
  if (limits_.bytes && bytes_ > *limits_.bytes) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("over outputs_limit ({})", size_words(*limits_.bytes))};
  }
  if (bytes_ - looked_at_ >= kLook) {
    looked_at_ = bytes_;
    GANGRUN_TRY(has_room(piece.size()));
  }
  return base::write_all(file_.get(), piece, path_);
}

base::Result<> OutputsArchive::end() { return has_room(bytes_); }

base::Result<> OutputsArchive::has_room(std::uint64_t bytes) const {
  GANGRUN_ASSIGN(const cluster::DiskRoom room, limits_.room());
  if (room.free >= cluster::kept_free(room) + bytes) return {};
  return base::Error{
      base::Code::kResourceExhausted,
      base::format("{} of them leave less than {} free on the disk of {}", base::size_text(bytes_),
                   base::size_text(cluster::kept_free(room)),
                   std::filesystem::path(path_).parent_path().string())};
}

}  // namespace gangrun::kubernetes::pods
