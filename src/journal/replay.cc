#include "journal/replay.h"

#include <algorithm>

#include "base/format.h"
#include "base/overloaded.h"

namespace gangrun::journal {

namespace {

using base::Result;

const SpecRecord* as_spec(const Record& record) {
  return std::visit(
      base::Overloaded{
          [](const SpecRecord& spec) { return &spec; },
          [](const base::OneOf<EventRecord, PlaceRecord, GenerationRecord, StatusRecord,
                               VerdictRecord> auto&) -> const SpecRecord* { return nullptr; },
      },
      record);
}

Result<const job::JobSpec*> spec_of(const Journal& journal) {
  const job::JobSpec* spec = nullptr;
  for (const Segment& segment : journal.segments) {
    for (const Record& record : segment.records) {
      const auto* found = as_spec(record);
      if (found == nullptr) continue;
      if (spec != nullptr && !(*spec == found->spec)) {
        return base::Error{
            base::Code::kDataLoss,
            base::format("segment {} has another spec than the one before it", segment.number)};
      }
      spec = &found->spec;
    }
  }
  if (spec == nullptr) return base::not_found("the journal does not say what was requested");
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
                .last_event = {},
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
  replayed_.last_event = last_;
  // Its instants count from the beginning of its segment; the gang's are of this process's clock.
  const gang::Event event = gang::moved_by(origin_.time_since_epoch(), record.event);
  std::vector<gang::Decision> decisions = replayed_.gang.step(event, last_);
  if (gang::tells_of_start(event) && !replayed_.all_started && replayed_.gang.all_started()) {
    replayed_.all_started = last_;
  }
  replayed_.warnings.clear();
  for (const gang::Decision& decision : decisions) {
    std::visit(base::Overloaded{
                   [&](const gang::Finish& finish) { replayed_.finish = finish; },
                   [&](const gang::Warn& warning) {
                     replayed_.warnings.push_back(gang::to_words(warning.warning));
                   },
                   // Carried out by the master that decided it, or decided again when one resumes.
                   [](const base::OneOf<gang::Allocate, gang::Publish, gang::Start, gang::Stop,
                                        gang::End, gang::Kill> auto&) {},
               },
               decision);
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
