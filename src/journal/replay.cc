#include "journal/replay.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/overloaded.h"

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

}  // namespace

Replayer::Replayer(const job::JobSpec& spec, gang::Gang::Limits limits)
    : replayed_{.job_id = {},
                .spec = spec,
                .gang = gang::Gang(spec, limits),
                .finish = {},
                .warnings = {},
                .generation = 0,
                .last_segment = 0,
                .submitted = {},
                .all_started = {},
                .places = {},
                .verdict = {}} {}

Result<> Replayer::segment(int number, const std::optional<Header>& header, base::Instant now,
                           base::WallTime wall_now) {
  replayed_.last_segment = number;
  if (!header) return {};
  GANGRUN_ASSIGN(const base::WallTime started, base::parse_iso8601(header->started));
  if (replayed_.job_id.empty()) {
    replayed_.job_id = header->job_id;
    replayed_.submitted = started;
  }
  origin_ = now - std::chrono::duration_cast<base::Duration>(wall_now - started);
  return {};
}

std::vector<gang::Decision> Replayer::record(const Record& record, base::Instant now) {
  std::vector<gang::Decision> decisions;
  std::visit(base::Overloaded{
                 [](const SpecRecord&) {},    // read before the others
                 [](const StatusRecord&) {},  // follows from the events
                 [&](const EventRecord& event) { decisions = handle(event, now); },
                 [&](const PlaceRecord& place) {
                   replayed_.places[{place.task, place.attempt}] = place.handle;
                 },
                 [&](const GenerationRecord& generation) {
                   replayed_.generation = generation.spec.generation;
                 },
                 [&](const VerdictRecord& verdict) { replayed_.verdict = verdict.status; },
             },
             record);
  return decisions;
}

std::vector<gang::Decision> Replayer::handle(const EventRecord& record, base::Instant now) {
  last_ = std::min(std::max(origin_ + record.offset, last_), now);
  const gang::Event event = moved_by(origin_.time_since_epoch(), record.event);
  std::vector<gang::Decision> decisions = replayed_.gang.step(event, last_);
  const bool is_start = std::holds_alternative<gang::Started>(event);
  if (is_start && !replayed_.all_started && replayed_.gang.all_started()) {
    replayed_.all_started = last_;
  }
  replayed_.warnings.clear();
  for (const gang::Decision& decision : decisions) {
    if (const auto* finish = std::get_if<gang::Finish>(&decision)) replayed_.finish = *finish;
    if (const auto* warning = std::get_if<gang::Warn>(&decision)) {
      replayed_.warnings.push_back(warning->sentence);
    }
  }
  return decisions;
}

Result<Replayed> replay(const Journal& journal, gang::Gang::Limits limits, base::Instant now,
                        base::WallTime wall_now) {
  GANGRUN_ASSIGN(const job::JobSpec* spec, spec_of(journal));
  Replayer replayer(*spec, limits);
  for (const Segment& segment : journal.segments) {
    GANGRUN_TRY(replayer.segment(segment.number, segment.header, now, wall_now)
                    .context(base::format("segment {}", segment.number)));
    for (const Record& record : segment.records) (void)replayer.record(record, now);
  }
  return replayer.take();
}

}  // namespace gangrun::journal
