#include "kubernetes/records/volume_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Result;

// A disk that takes longer is told of.
constexpr std::chrono::seconds kSlowDisk{5};

// Has the disk keep what was appended, and once the segment's name in its folder.
Result<> keep(int segment, int folder, const std::string& path) {
  const bool is_kept =
      ::fdatasync(segment) == 0 && (folder < 0 || ::fsync(folder) == 0 || errno == EINVAL);
  return is_kept ? Result<>() : base::from_errno(errno, base::format("write {}", path));
}

}  // namespace

VolumeJournal::VolumeJournal(net::EventLoop& loop, base::Logger& logger, HeadKeeper& head,
                             Options options)
    : loop_(loop), logger_(logger), head_(head), options_(std::move(options)), disk_(loop, 1) {}

void VolumeJournal::copy(std::function<void()> done) {
  waiting_.push_back(std::move(done));
  wait_at_most();
  work();
}

void VolumeJournal::hurry() {
  is_hurried_ = true;
  wait_at_most();
}

std::string VolumeJournal::trouble() const {
  constexpr std::string_view kConsequence = "before which nothing new is started";
  if (has_given_up_) return {};
  if (!head_.trouble().empty()) {
    return base::format("the API server to confirm that this master leads the job, {}: {}",
                        kConsequence, head_.trouble());
  }
  if (!began_ || loop_.now() < *began_ + kSlowDisk) return {};
  return base::format("the volume to keep the journal, {}", kConsequence);
}

// Held open by the first round: an error of the disk that comes late is told to who has the file
// open.
Result<> VolumeJournal::open() {
  GANGRUN_ASSIGN(segment_, base::open_file(options_.segment_path, O_WRONLY | O_APPEND));
  return {};
}

void VolumeJournal::work() {
  if (has_given_up_) {
    if (!release_.pending()) release_ = loop_.after(base::Duration(0), [this] { release(); });
    return;
  }
  if (is_busy_ || is_lost_ || waiting_.empty()) return;
  is_busy_ = true;
  under_way_ = std::exchange(waiting_, {});
  began_ = loop_.now();
  const bool is_first = !segment_.valid();
  Result<> ready = is_first ? open() : Result<>();
  const std::string path = options_.segment_path;
  if (ready.ok()) {
    ready = disk_.run(
        [segment = segment_.get(), is_first, path]() -> Result<> {
          base::UniqueFd folder;
          if (is_first) {
            const std::string parent = std::filesystem::path(path).parent_path().string();
            folder.reset(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            if (!folder.valid()) return base::from_errno(errno, base::format("open {}", parent));
          }
          return keep(segment, folder.get(), path);
        },
        [this](const Result<>& kept) { on_kept(kept); });
  }
  if (!ready.ok()) {
    release_ = loop_.after(base::Duration(0), [this, why = ready] { on_kept(why); });
  }
}

// A disk that has failed once may say that all is well the next time, without what it has lost.
void VolumeJournal::on_kept(const Result<>& kept) {
  began_.reset();
  if (!kept.ok()) {
    is_lost_ = true;
    logger_.error("the volume does not keep the journal: {}", kept.error().message);
    if (options_.on_lost) options_.on_lost(kept.error());
    return;
  }
  head_.look(net::while_alive(life_, [this] {
    is_busy_ = false;
    const auto dones = std::exchange(under_way_, {});
    limit_.reset();
    for (const auto& done : dones) done();
    wait_at_most();
    work();
  }));
}

void VolumeJournal::wait_at_most() {
  const bool has_waiters = !waiting_.empty() || !under_way_.empty();
  if (!is_hurried_ || !has_waiters || limit_.pending()) return;
  limit_ = loop_.after(kLastVolumeTimeout, [this] {
    if (head_.is_in_office()) give_up();
  });
}

// The job has ended: a next master, if there is one, finds that out again.
void VolumeJournal::give_up() {
  has_given_up_ = true;
  logger_.error("the journal is no longer waited for: after {}",
                base::to_words(kLastVolumeTimeout));
  release();
}

void VolumeJournal::release() {
  std::vector<std::function<void()>> dones = std::exchange(under_way_, {});
  for (auto& done : std::exchange(waiting_, {})) dones.push_back(std::move(done));
  for (const auto& done : dones) done();
}

}  // namespace gangrun::kubernetes::records
