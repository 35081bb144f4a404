#include "kubernetes/records/journal_maps.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "base/unique_fd.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Result;

// For a job that ends since its journal is full.
constexpr std::size_t kRoomForTheEnd = std::size_t{1} << 20U;

// All that is left of the room which the journals of a job's masters have together.
ChainLimits limits_for(const Head& head, int segment) {
  ChainLimits limits = journal_limits();
  std::size_t taken = 0;
  for (const auto& [chain, maps] : head.chains) {
    const int other = segment_of_journal(chain);
    if (other != 0 && other != segment) taken += static_cast<std::size_t>(maps) * limits.map_bytes;
  }
  limits.chain_bytes -= std::min(taken, limits.chain_bytes);
  limits.chain_bytes += kRoomForTheEnd;
  return limits;
}

Result<std::string> read_range(const std::string& path, std::uint64_t from, std::uint64_t to) {
  GANGRUN_ASSIGN(const base::UniqueFd file, base::open_file(path, O_RDONLY));
  GANGRUN_ASSIGN(std::string bytes, base::read_at(file.get(), static_cast<std::int64_t>(from),
                                                  to - from, base::format("read {}", path)));
  if (bytes.size() < to - from) {
    return base::Error{base::Code::kDataLoss, base::format("{} has become shorter", path)};
  }
  return bytes;
}

}  // namespace

JournalMaps::JournalMaps(RecordPlace place, HeadKeeper& head, Options options)
    : loop_(place.loop),
      logger_(place.logger),
      head_(head),
      options_(std::move(options)),
      limits_(limits_for(head.head(), options_.segment)),
      writer_(std::move(place), head, chain_of_journal(options_.segment), limits_) {}

std::uint64_t JournalMaps::recorded() const {
  struct stat info {};
  if (::stat(options_.segment_path.c_str(), &info) != 0) return stored_;
  return static_cast<std::uint64_t>(info.st_size);
}

void JournalMaps::copy(std::function<void()> done) {
  waiters_.push_back({recorded(), std::move(done)});
  wait_at_most();
  work();
}

void JournalMaps::hurry() {
  is_hurried_ = true;
  wait_at_most();
}

std::string JournalMaps::trouble() const {
  const std::string why = head_.trouble().empty() ? writer_.trouble() : head_.trouble();
  if (has_given_up_ || why.empty()) return {};
  return base::format("the API server to keep the journal, before which nothing new is started: {}",
                      why);
}

void JournalMaps::work() {
  if (is_busy_ || waiters_.empty()) return;
  const std::uint64_t end = std::min<std::uint64_t>(recorded(), stored_ + kMaxJournalPartBytes);
  if (has_given_up_ || end <= stored_) {
    if (!release_.pending()) release_ = loop_.after(base::Duration(0), [this] { release(); });
    return;
  }
  is_busy_ = true;
  auto bytes = read_range(options_.segment_path, stored_, end);
  if (!bytes.ok()) {
    release_ =
        loop_.after(base::Duration(0), [this, end, error = bytes.error()] { on_part(end, error); });
    return;
  }
  writer_.append(*std::move(bytes), [this, end](const Result<>& stored) { on_part(end, stored); });
  tell_if_full();
}

void JournalMaps::on_part(std::uint64_t end, const Result<>& stored) {
  is_busy_ = false;
  limit_.reset();
  if (stored.ok()) {
    stored_ = end;
  } else if (!has_given_up_) {
    give_up(stored.error().message);
  }
  release();
  wait_at_most();
  work();
}

void JournalMaps::tell_if_full() {
  if (writer_.bytes() + kRoomForTheEnd <= limits_.chain_bytes || is_full_) return;
  is_full_ = true;
  logger_.error("the journal is full: config maps take no more than {} of it",
                base::size_text(journal_limits().chain_bytes));
  if (options_.on_full) full_ = loop_.after(base::Duration(0), options_.on_full);
}

void JournalMaps::wait_at_most() {
  if (!is_hurried_ || waiters_.empty() || limit_.pending()) return;
  limit_ = loop_.after(kLastJournalTimeout, [this] {
    if (head_.is_in_office()) {
      give_up(base::format("after {}", base::to_words(kLastJournalTimeout)));
      writer_.give_up(base::deadline_exceeded("the job has ended"));
    }
  });
}

// The journal is not whole from now on: a next master takes over with what it has.
void JournalMaps::give_up(const std::string& why) {
  has_given_up_ = true;
  logger_.error("the journal is no longer kept in the cluster: {}", why);
}

void JournalMaps::release() {
  std::vector<std::function<void()>> dones;
  while (!waiters_.empty() && (has_given_up_ || waiters_.front().bytes <= stored_)) {
    dones.push_back(std::move(waiters_.front().done));
    waiters_.pop_front();
  }
  for (const auto& done : dones) done();
}

}  // namespace gangrun::kubernetes::records
