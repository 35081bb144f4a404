#include "journal/replay.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace gangrun::journal {

namespace {

using base::Result;

// An event with instants counted from the beginning of its segment, by this process's clock.
gang::Event moved_by(base::Duration origin, gang::Event event) {
  if (auto* exited = std::get_if<gang::Exited>(&event)) exited->ended_at += origin;
  if (auto* ended = std::get_if<gang::AgentEnded>(&event)) ended->ended_at += origin;
  return event;
}

Result<const job::JobSpec*> spec_of(const Journal& journal) {
  const job::JobSpec* spec = nullptr;
  for (const Segment& segment : journal.segments) {
    for (const Record& record : segment.records) {
      const auto* found = std::get_if<SpecRecord>(&record);
      if (found == nullptr) continue;
      if (spec != nullptr && !(*spec == found->spec)) {
        return base::Error{
            base::Code::kDataLoss,
            base::format("segment {} has another spec than the one before it", segment.number)};
      }
      spec = &found->spec;
    }
  }
  if (spec == nullptr) return base::not_found("the journal does not say what was asked for");
  return spec;
}

class Replay {
 public:
  Replay(Replayed& replayed, base::Instant now, base::WallTime wall_now)
      : replayed_(replayed), now_(now), wall_now_(wall_now), last_(base::Instant::min()) {}

  Result<> segment(const Segment& segment) {
    replayed_.last_segment = segment.number;
    if (!segment.header) return {};
    GANGRUN_ASSIGN(const base::WallTime started, base::parse_iso8601(segment.header->started));
    if (replayed_.job_id.empty()) {
      replayed_.job_id = segment.header->job_id;
      replayed_.submitted = started;
    }
    origin_ = now_ - std::chrono::duration_cast<base::Duration>(wall_now_ - started);
    for (const Record& record : segment.records)
      std::visit([this](const auto& r) { on(r); }, record);
    return {};
  }

 private:
  void on(const SpecRecord&) {}
  void on(const StatusRecord&) {}
  void on(const EventRecord& record) {
    const base::Instant recorded = origin_ + record.offset;
    last_ = std::min(std::max(recorded, last_), now_);
    const gang::Event event = moved_by(origin_.time_since_epoch(), record.event);
    for (gang::Decision& decision : replayed_.gang.step(event, last_)) {
      auto* finish = std::get_if<gang::Finish>(&decision);
      if (finish != nullptr) replayed_.finish = std::move(*finish);
    }
  }
  void on(const PlaceRecord& record) {
    replayed_.places[{record.task, record.attempt}] = record.handle;
  }
  void on(const GenerationRecord& record) { replayed_.generation = record.spec.generation; }
  void on(const VerdictRecord& record) { replayed_.verdict = record.status; }

  Replayed& replayed_;
  base::Instant now_;
  base::WallTime wall_now_;
  base::Instant origin_;  // of the segment
  base::Instant last_;    // when the gang handled something
};

}  // namespace

Result<Replayed> replay(const Journal& journal, gang::Gang::Limits limits, base::Instant now,
                        base::WallTime wall_now) {
  GANGRUN_ASSIGN(const job::JobSpec* spec, spec_of(journal));
  Replayed replayed{.job_id = {},
                    .spec = *spec,
                    .gang = gang::Gang(*spec, limits),
                    .finish = {},
                    .generation = 0,
                    .last_segment = 0,
                    .submitted = {},
                    .places = {},
                    .verdict = {}};
  Replay replay(replayed, now, wall_now);
  for (const Segment& segment : journal.segments) {
    GANGRUN_TRY(replay.segment(segment).context(base::format("segment {}", segment.number)));
  }
  return replayed;
}

}  // namespace gangrun::journal
