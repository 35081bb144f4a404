#include "journal/record.h"

#include "base/format.h"
#include "base/strings.h"
#include "job/described.h"

namespace gangrun::journal {

namespace {

using base::format;
using base::invalid_argument;
using base::Json;
using base::Result;

constexpr std::string_view kFormat = "gangrun";
constexpr std::string_view kHeader = "header";
// Every line begins with {"n":…,"kind":"…": nothing else can push the kind further away.
constexpr std::size_t kKindWithin = 48;
// If the status of a large job is too long for a line, its tasks' texts are cut to this.
constexpr std::size_t kShortTextBytes = 160;

constexpr std::string_view kNumber = "n";
constexpr std::string_view kKind = "kind";

// The status of a large job may be too long for a line.
void shorten_texts(Json& line) {
  for (Json& task : line["status"]["tasks"]) {
    for (const char* key : {"exit", "last_line", "log_path", "incomplete_log", "lost_outputs"}) {
      if (!task.contains(key)) continue;
      task[key] = base::shorten(task[key].get_ref<const std::string&>(), kShortTextBytes);
    }
  }
}

}  // namespace

Result<> GangEvent::read(const Json& json, std::string_view /*key*/, gang::Event& out) {
  GANGRUN_ASSIGN(out, gang::event_from_json(json));
  return {};
}

std::string header_line(const Header& header) {
  Json json = {{kNumber, 0}, {kKind, kHeader}, {"format", kFormat}, {"version", kJournalVersion}};
  json.update(base::to_json(header));
  return base::dump_json(json);
}

std::string record_line(const Record& record, std::int64_t number) {
  Json json = {{kNumber, number}};
  base::add_tagged(json, kKind, record);
  std::string line = base::dump_json(json);
  if (line.size() < kMaxLineBytes || !json.contains("status")) return line;
  shorten_texts(json);
  return base::dump_json(json);
}

Result<Header> parse_header(std::string_view line) {
  const auto foreign = [] { return invalid_argument("this is not a journal of gangrun"); };
  const auto json = base::parse_json(line, kMaxLineBytes);
  if (!json.ok() || !json->is_object()) return foreign();
  const auto kind = base::json_member<std::string>(*json, "kind");
  const auto format_name = base::json_member<std::string>(*json, "format");
  const auto version = base::json_member<int>(*json, "version");
  if (!kind.ok() || *kind != kHeader || !format_name.ok() || *format_name != kFormat) {
    return foreign();
  }
  if (!version.ok() || *version < 1) return foreign();
  if (*version > kJournalVersion) {
    return base::Error{base::Code::kFailedPrecondition,
                       format("journal version {} was written by a newer gangrun; this one reads "
                              "version {}",
                              *version, kJournalVersion)};
  }
  base::Members in(*json, {kNumber, kKind, "format", "version"});
  return base::from_json<Header>(in);
}

Result<Record> parse_record(std::string_view line, std::int64_t number) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(line, kMaxLineBytes));
  GANGRUN_ASSIGN(const auto written, base::json_member<std::int64_t>(json, kNumber));
  if (written != number) {
    return invalid_argument(format("record {} stands where {} should be", written, number));
  }
  base::Members in(json, {kNumber});
  return base::tagged_from<Record>(kKind, in);
}

bool holds_status(std::string_view line) {
  const std::string_view start = line.substr(0, kKindWithin);
  return start.find(R"("kind":"status")") != std::string_view::npos ||
         start.find(R"("kind":"verdict")") != std::string_view::npos;
}

Result<job::JobStatus> parse_status(std::string_view line) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(line, kMaxLineBytes));
  const auto status = json.find("status");
  if (status == json.end()) return base::missing_member("status");
  return base::from_json<job::JobStatus>(*status);
}

}  // namespace gangrun::journal
