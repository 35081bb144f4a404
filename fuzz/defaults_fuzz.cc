#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "jobfile/default_files.h"
#include "jobfile/spec_yaml.h"
#include "places/places.h"

// Any text as a file of defaults below a small job: it never crashes or loops, every error is one
// line, and the job has its own place and tasks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace jobfile = gangrun::jobfile;
  constexpr std::string_view kJob = "{on: local, tasks: {worker: 2}, command: 'true'}";
  const std::string text(reinterpret_cast<const char*>(data), size);
  const jobfile::OverDefaults job_file = [&](jobfile::JobDraft over) {
    return jobfile::parse_spec(kJob, "job.yaml", gangrun::places::rules().sections(),
                               std::move(over));
  };
  const auto spec = jobfile::build_over({{"/etc/gangrun.yaml", text}}, job_file, {},
                                        {.places = &gangrun::places::rules()});
  if (!spec.ok()) {
    const std::string& message = spec.error().message;
    GANGRUN_CHECK(!message.empty() && message.find('\n') == std::string::npos, message);
    return 0;
  }
  GANGRUN_CHECK(spec->on == "local" && spec->tasks.size() == 1, text);
  return 0;
}
