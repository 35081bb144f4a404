#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "gang/event.h"
#include "job/cluster_spec.h"
#include "job/spec.h"
#include "job/status.h"
#include "job/task_id.h"

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

  friend bool operator==(const Header&, const Header&) = default;
};

struct SpecRecord {
  job::JobSpec spec;
  friend bool operator==(const SpecRecord&, const SpecRecord&) = default;
};

// What the gang was told, and when. Instants count from the beginning of the segment.
struct EventRecord {
  gang::Event event;
  base::Duration offset{0};
  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

// How the cluster finds the agent of a task again: written when the agent was started, before the
// gang hears of it. What `handle` holds is the cluster's own affair.
struct PlaceRecord {
  job::TaskId task;
  int attempt = 0;
  base::Json handle;
  friend bool operator==(const PlaceRecord&, const PlaceRecord&) = default;
};

struct GenerationRecord {
  job::ClusterSpec spec;
  friend bool operator==(const GenerationRecord&, const GenerationRecord&) = default;
};

struct StatusRecord {
  job::JobStatus status;
  friend bool operator==(const StatusRecord&, const StatusRecord&) = default;
};

// The last status of a job that has ended.
struct VerdictRecord {
  job::JobStatus status;
  friend bool operator==(const VerdictRecord&, const VerdictRecord&) = default;
};

using Record = std::variant<SpecRecord, EventRecord, PlaceRecord, GenerationRecord, StatusRecord,
                            VerdictRecord>;

// One line without its end. `number` counts the lines of a segment from 0, which is the header's.
std::string header_line(const Header& header);
std::string record_line(const Record& record, std::int64_t number);

// What starts like JSON of ours but is newer is kFailedPrecondition, what is none of ours
// kInvalidArgument.
base::Result<Header> parse_header(std::string_view line);
// kInvalidArgument, with what is wrong, for whatever is not the record with this number.
base::Result<Record> parse_record(std::string_view line, std::int64_t number);

// The state in a line that may hold anything: cheap where it is of another kind.
[[nodiscard]] bool holds_status(std::string_view line);
// Of a line for which holds_status() is true, whatever its number.
base::Result<job::JobStatus> parse_status(std::string_view line);

}  // namespace gangrun::journal
