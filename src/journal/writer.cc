#include "journal/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/format.h"
#include "journal/segments.h"

namespace gangrun::journal {

using base::format;

namespace {

// The event with its instants counted from `origin`.
gang::Event counted_from(base::Instant origin, gang::Event event) {
  if (auto* exited = std::get_if<gang::Exited>(&event)) {
    exited->ended_at = base::Instant(exited->ended_at - origin);
  }
  if (auto* ended = std::get_if<gang::AgentEnded>(&event)) {
    ended->ended_at = base::Instant(ended->ended_at - origin);
  }
  return event;
}

// What the header's text leaves out of a time: offsets count from what the header says.
base::Duration written_off(base::WallTime time) {
  return time - std::chrono::floor<std::chrono::milliseconds>(time);
}

}  // namespace

Writer::Writer(Private, std::string path, base::UniqueFd fd, const Opening& opening)
    : path_(std::move(path)),
      fd_(std::move(fd)),
      origin_(opening.origin - written_off(opening.started)),
      durable_(opening.durable) {}

base::Result<std::unique_ptr<Writer>> Writer::create(const std::string& folder,
                                                     const Opening& opening) {
  if (opening.attempt < 1 || opening.attempt > kMaxSegments) {
    return base::Error{
        base::Code::kResourceExhausted,
        format("a journal has the segments 1 to {}, not {}", kMaxSegments, opening.attempt)};
  }
  std::string path = segment_path(folder, opening.attempt);
  base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return base::from_errno(errno, format("cannot create {}", path));
  auto writer = std::make_unique<Writer>(Private{}, path, std::move(fd), opening);
  auto written = writer->write_line(header_line(
      {opening.job_id, GANGRUN_VERSION, opening.attempt, base::to_iso8601(opening.started)}));
  if (written.ok()) return writer;
  // Nothing is left that would stop the next try.
  ::unlink(path.c_str());
  return std::move(written).error();
}

base::Result<> Writer::append(const Record& record) {
  return write_line(record_line(record, lines_));
}

base::Result<> Writer::spec(const job::JobSpec& spec) { return append(SpecRecord{spec}); }

base::Result<> Writer::event(const gang::Event& event, base::Instant at) {
  return append(EventRecord{counted_from(origin_, event), at - origin_});
}

base::Result<> Writer::place(const job::TaskId& task, int attempt, const base::Json& handle) {
  return append(PlaceRecord{task, attempt, handle});
}

base::Result<> Writer::generation(const job::ClusterSpec& spec) {
  return append(GenerationRecord{spec});
}

base::Result<> Writer::status(const job::JobStatus& status) { return append(StatusRecord{status}); }

base::Result<> Writer::verdict(const job::JobStatus& status) {
  return append(VerdictRecord{status});
}

base::Result<> Writer::write_line(std::string line) {
  if (damaged_) {
    return base::Error{base::Code::kDataLoss,
                       format("{} ends in a damaged line; nothing can follow it", path_)};
  }
  line += '\n';
  if (line.size() > kMaxLineBytes) {
    return base::Error{
        base::Code::kResourceExhausted,
        format("a record of {} bytes is over the limit of {}", line.size(), kMaxLineBytes)};
  }
  ssize_t written = -1;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  const std::string what = format("cannot write {}", path_);
  if (written < 0) return base::from_errno(errno, what);
  // The kernel writes a part only where there is no room for the rest.
  if (written < static_cast<ssize_t>(line.size())) {
    return take_back(base::from_errno(ENOSPC, what));
  }
  if (durable_ && ::fdatasync(fd_.get()) != 0) return take_back(base::from_errno(errno, what));
  bytes_ += static_cast<std::int64_t>(line.size());
  ++lines_;
  return {};
}

// A part of a line would spoil what follows it.
base::Error Writer::take_back(base::Error error) {
  damaged_ = ::ftruncate(fd_.get(), bytes_) != 0;
  return error;
}

}  // namespace gangrun::journal
