#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "gang/event.h"
#include "job/cluster_spec.h"
#include "job/spec.h"
#include "job/status.h"
#include "job/task_id.h"
#include "jobfile/described_job.h"

// The lines of a journal as values. The format is described in docs/protocols/journal.md.
namespace gangrun::journal {

// 2: agent_ended and exit reports have a reason in place of flags. Both are read.
inline constexpr int kJournalVersion = 3;
// Enough for the status of the largest job.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20U;

// The first line of a segment: who wrote it.
struct Header {
  std::string job_id;
  std::string gangrun_version;
  int attempt = 1;      // of the master, and the segment's number
  std::string started;  // ISO 8601, UTC: the wall time from which offsets count

  static constexpr auto rows() {
    return std::tuple(base::row("job", &Header::job_id, job::kStatusText),
                      base::row("gangrun", &Header::gangrun_version, job::kStatusText),
                      base::row("attempt", &Header::attempt),
                      base::row("started", &Header::started, job::kStatusText));
  }

  friend bool operator==(const Header&, const Header&) = default;
};

// An event of the gang as a record has it.
struct GangEvent {
  [[nodiscard]] static base::Json write(const gang::Event& event) { return gang::to_json(event); }
  static base::Result<> read(const base::Json& json, std::string_view key, gang::Event& out);
  [[nodiscard]] static std::string bounds() { return {}; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return gang::TimePassed{};
  }
};

struct SpecRecord {
  job::JobSpec spec;

  static constexpr std::string_view kName = "spec";
  GANGRUN_ROWS(SpecRecord, spec);

  friend bool operator==(const SpecRecord&, const SpecRecord&) = default;
};

// An event of the gang, and its time. Instants count from the beginning of the segment.
struct EventRecord {
  gang::Event event;
  base::Duration offset{0};

  static constexpr std::string_view kName = "event";
  static constexpr auto rows() {
    return std::tuple(base::row("at", &EventRecord::offset),
                      base::row("event", &EventRecord::event, GangEvent{}));
  }

  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

// How the cluster finds the agent of a task again: written when the agent was started, before the
// gang hears of it. What `handle` holds is the cluster's own affair.
struct PlaceRecord {
  job::TaskId task;
  int attempt = 0;
  base::Json handle;

  static constexpr std::string_view kName = "place";
  GANGRUN_ROWS(PlaceRecord, task, attempt, handle);

  friend bool operator==(const PlaceRecord&, const PlaceRecord&) = default;
};

struct GenerationRecord {
  job::ClusterSpec spec;

  static constexpr std::string_view kName = "generation";
  static constexpr auto rows() {
    return std::tuple(base::row("cluster_spec", &GenerationRecord::spec));
  }

  friend bool operator==(const GenerationRecord&, const GenerationRecord&) = default;
};

template <base::Name kIs>
struct RecordOfStatus {
  job::JobStatus status;

  static constexpr std::string_view kName = kIs.text;
  GANGRUN_ROWS(RecordOfStatus, status);

  friend bool operator==(const RecordOfStatus&, const RecordOfStatus&) = default;
};
using StatusRecord = RecordOfStatus<"status">;
// The last status of a job that has ended.
using VerdictRecord = RecordOfStatus<"verdict">;

using Record = std::variant<SpecRecord, EventRecord, PlaceRecord, GenerationRecord, StatusRecord,
                            VerdictRecord>;

// One line without its end. `number` counts the lines of a segment from 0, which is the header's.
std::string header_line(const Header& header);
std::string record_line(const Record& record, std::int64_t number);

// A line that starts like JSON of ours but is newer is kFailedPrecondition, a line that is not of
// ours kInvalidArgument.
base::Result<Header> parse_header(std::string_view line);
// kInvalidArgument, with what is wrong, for whatever is not the record with this number.
base::Result<Record> parse_record(std::string_view line, std::int64_t number);

// The state in a line that may hold anything: cheap where it is of another kind.
[[nodiscard]] bool holds_status(std::string_view line);
// The status of a line for which holds_status() is true, whatever its number.
base::Result<job::JobStatus> parse_status(std::string_view line);

}  // namespace gangrun::journal
