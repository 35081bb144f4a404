#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "jobfile/build.h"
#include "jobfile/plan_json.h"
#include "jobfile/spec_yaml.h"
#include "places/places.h"

// Any text as a job file: it never crashes, every error is one line with its source, and whatever
// is a valid job reads back from its canonical JSON as the same job, as JSON and as a job file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace base = gangrun::base;
  namespace job = gangrun::job;
  namespace jobfile = gangrun::jobfile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto draft = jobfile::parse_spec(text, "job.yaml", gangrun::places::rules().sections());
  if (!draft.ok()) {
    const std::string& message = draft.error().message;
    GANGRUN_CHECK(message.starts_with("job.yaml:"), message);
    GANGRUN_CHECK(message.find('\n') == std::string::npos, message);
    return 0;
  }
  const auto spec = jobfile::build(*draft, {}, {.places = &gangrun::places::rules()});
  if (!spec.ok()) {
    GANGRUN_CHECK(!spec.error().message.empty(), size);
    return 0;
  }
  const base::Json json = jobfile::to_json(*spec);
  const auto back = jobfile::job_spec_from_json(json, gangrun::places::rules().sections());
  GANGRUN_CHECK(back.ok() && *back == *spec, base::dump_json(json));
  const std::string dumped = base::dump_json(json);
  if (dumped.size() > job::kMaxSpecBytes) return 0;
  const auto reread = jobfile::parse_spec(dumped, "plan.json", gangrun::places::rules().sections());
  GANGRUN_CHECK(reread.ok(), dumped, reread.error().message);
  const auto rebuilt = jobfile::build(*reread, {}, {.places = &gangrun::places::rules()});
  GANGRUN_CHECK(rebuilt.ok() && *rebuilt == *spec, dumped);
  return 0;
}
