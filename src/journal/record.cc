#include "journal/record.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "job/json_text.h"
#include "job/plan_json.h"

namespace gangrun::journal {

namespace {

using base::format;
using base::invalid_argument;
using base::Json;
using base::Result;

constexpr std::string_view kFormat = "gangrun";
constexpr std::size_t kMaxFieldBytes = 4096;
// Every line begins with {"n":…,"kind":"…": nothing else can push the kind further away.
constexpr std::size_t kKindWithin = 48;
// Where the status of a large job is too long for a line, its tasks' texts are cut to this.
constexpr std::size_t kShortTextBytes = 160;

constexpr std::string_view kSpec = "spec";
constexpr std::string_view kEvent = "event";
constexpr std::string_view kPlace = "place";
constexpr std::string_view kGeneration = "generation";
constexpr std::string_view kStatus = "status";
constexpr std::string_view kVerdict = "verdict";

Json line_json(std::int64_t number, std::string_view kind) {
  return {{"n", number}, {"kind", kind}};
}

std::string status_line(const job::JobStatus& status, std::int64_t number, std::string_view kind) {
  Json json = line_json(number, kind);
  json["status"] = job::to_json(status);
  std::string line = base::dump_json(json);
  if (line.size() < kMaxLineBytes) return line;
  for (Json& task : json["status"]["tasks"]) {
    for (const char* key : {"exit", "last_line", "log_path", "incomplete_log", "lost_outputs"}) {
      if (!task.contains(key)) continue;
      task[key] = base::shorten(task[key].get_ref<const std::string&>(), kShortTextBytes);
    }
  }
  return base::dump_json(json);
}

Result<const Json*> member(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  if (found == json.end()) return invalid_argument(format("\"{}\" is missing", key));
  return &*found;
}

Result<> only(const Json& json, std::size_t keys) {
  if (json.size() == keys) return {};
  return invalid_argument("it has keys that are not known");
}

Result<Record> parse_event(const Json& json) {
  GANGRUN_TRY(only(json, 4));
  EventRecord record;
  GANGRUN_ASSIGN(const auto at, base::json_member<std::int64_t>(json, "at"));
  record.offset = base::Duration(at);
  GANGRUN_ASSIGN(const Json* event, member(json, "event"));
  GANGRUN_ASSIGN(record.event, gang::event_from_json(*event, base::Instant{}));
  return Record(std::move(record));
}

Result<Record> parse_place(const Json& json) {
  GANGRUN_TRY(only(json, 5));
  PlaceRecord record;
  GANGRUN_ASSIGN(const auto task, base::json_member<std::string>(json, "task"));
  GANGRUN_ASSIGN(record.task, job::parse_task_id(task));
  GANGRUN_ASSIGN(record.attempt, base::json_member<int>(json, "attempt"));
  GANGRUN_ASSIGN(const Json* handle, member(json, "handle"));
  record.handle = *handle;
  return Record(std::move(record));
}

Result<Record> parse_spec(const Json& json) {
  GANGRUN_TRY(only(json, 3));
  GANGRUN_ASSIGN(const Json* content, member(json, "spec"));
  SpecRecord record;
  GANGRUN_ASSIGN(record.spec, job::job_spec_from_json(*content));
  return Record(std::move(record));
}

Result<Record> parse_generation(const Json& json) {
  GANGRUN_TRY(only(json, 3));
  GANGRUN_ASSIGN(const Json* content, member(json, "cluster_spec"));
  GenerationRecord record;
  GANGRUN_ASSIGN(record.spec, job::cluster_spec_from_json(*content));
  return Record(std::move(record));
}

Result<Record> parse_kind(const Json& json, std::string_view kind) {
  if (kind == kEvent) return parse_event(json);
  if (kind == kPlace) return parse_place(json);
  if (kind == kSpec) return parse_spec(json);
  if (kind == kGeneration) return parse_generation(json);
  GANGRUN_TRY(only(json, 3));
  if (kind != kStatus && kind != kVerdict) {
    return invalid_argument(
        format("\"{}\" is not a kind of record", job::json_text(kind, 40).get<std::string>()));
  }
  GANGRUN_ASSIGN(const Json* content, member(json, "status"));
  GANGRUN_ASSIGN(auto status, job::job_status_from_json(*content));
  if (kind == kStatus) return Record(StatusRecord{std::move(status)});
  return Record(VerdictRecord{std::move(status)});
}

}  // namespace

std::string header_line(const Header& header) {
  Json json = line_json(0, "header");
  json["format"] = kFormat;
  json["version"] = kJournalVersion;
  json["job"] = job::json_text(header.job_id, kMaxFieldBytes);
  json["gangrun"] = job::json_text(header.gangrun_version, kMaxFieldBytes);
  json["attempt"] = header.attempt;
  json["started"] = job::json_text(header.started, kMaxFieldBytes);
  return base::dump_json(json);
}

std::string record_line(const Record& record, std::int64_t number) {
  return std::visit(
      base::Overloaded{
          [&](const SpecRecord& spec) {
            Json json = line_json(number, kSpec);
            json["spec"] = job::to_json(spec.spec, job::PlanForm::kForPrograms);
            return base::dump_json(json);
          },
          [&](const EventRecord& event) {
            Json json = line_json(number, kEvent);
            json["at"] = event.offset.count();
            json["event"] = gang::to_json(event.event, base::Instant{});
            return base::dump_json(json);
          },
          [&](const PlaceRecord& place) {
            Json json = line_json(number, kPlace);
            json["task"] = job::to_string(place.task);
            json["attempt"] = place.attempt;
            json["handle"] = place.handle;
            return base::dump_json(json);
          },
          [&](const GenerationRecord& generation) {
            Json json = line_json(number, kGeneration);
            json["cluster_spec"] = job::to_json(generation.spec);
            return base::dump_json(json);
          },
          [&](const StatusRecord& status) { return status_line(status.status, number, kStatus); },
          [&](const VerdictRecord& verdict) {
            return status_line(verdict.status, number, kVerdict);
          },
      },
      record);
}

Result<Header> parse_header(std::string_view line) {
  const auto foreign = [] { return invalid_argument("this is not a journal of gangrun"); };
  const auto json = base::parse_json(line, kMaxLineBytes);
  if (!json.ok() || !json->is_object()) return foreign();
  const auto kind = base::json_member<std::string>(*json, "kind");
  const auto format_name = base::json_member<std::string>(*json, "format");
  const auto version = base::json_member<int>(*json, "version");
  if (!kind.ok() || *kind != "header" || !format_name.ok() || *format_name != kFormat) {
    return foreign();
  }
  if (!version.ok() || *version < 1) return foreign();
  if (*version > kJournalVersion) {
    return base::Error{base::Code::kFailedPrecondition,
                       format("journal version {} was written by a newer gangrun; this one reads "
                              "version {}",
                              *version, kJournalVersion)};
  }
  Header header;
  GANGRUN_TRY(only(*json, 8));
  GANGRUN_ASSIGN(header.job_id, job::text_member(*json, "job", kMaxFieldBytes));
  GANGRUN_ASSIGN(header.gangrun_version, job::text_member(*json, "gangrun", kMaxFieldBytes));
  GANGRUN_ASSIGN(header.attempt, base::json_member<int>(*json, "attempt"));
  GANGRUN_ASSIGN(header.started, job::text_member(*json, "started", kMaxFieldBytes));
  return header;
}

Result<Record> parse_record(std::string_view line, std::int64_t number) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(line, kMaxLineBytes));
  GANGRUN_ASSIGN(const auto written, base::json_member<std::int64_t>(json, "n"));
  if (written != number) {
    return invalid_argument(format("record {} stands where {} should be", written, number));
  }
  GANGRUN_ASSIGN(const auto kind, base::json_member<std::string>(json, "kind"));
  return parse_kind(json, kind);
}

bool holds_status(std::string_view line) {
  const std::string_view start = line.substr(0, kKindWithin);
  return start.find(R"("kind":"status")") != std::string_view::npos ||
         start.find(R"("kind":"verdict")") != std::string_view::npos;
}

Result<job::JobStatus> parse_status(std::string_view line) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(line, kMaxLineBytes));
  GANGRUN_ASSIGN(const Json* content, member(json, "status"));
  return job::job_status_from_json(*content);
}

}  // namespace gangrun::journal
