#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/strings.h"
#include "jobfile/build.h"
#include "jobfile/plan_json.h"
#include "jobfile/spec_yaml.h"
#include "places/places.h"

namespace {

namespace job = gangrun::job;
namespace jobfile = gangrun::jobfile;

constexpr std::string_view kFile =
    "tasks: {worker: {instances: 2, memory: 1g}, ps: {overrides: {0: {vcores: 2}}}, "
    "evaluator: {}}\ncommand: x\n";

// The letter at the front of a line says which flag the rest is given to.
void give(char letter, std::string value, jobfile::Flags& flags, bool& with_file) {
  switch (letter) {
    case 'r': flags.roles.push_back(std::move(value)); break;
    case 'm': flags.fields["memory"].push_back(std::move(value)); break;
    case 'c': flags.fields["vcores"].push_back(std::move(value)); break;
    case 'g': flags.fields["gpus"].push_back(std::move(value)); break;
    case 'y': flags.resources.push_back(std::move(value)); break;
    case 'p': flags.fields["processes"].push_back(std::move(value)); break;
    case 'i': flags.fields["min_instances"].push_back(std::move(value)); break;
    case 'S': flags.fields["spares"].push_back(std::move(value)); break;
    case 'l': flags.fields["label"].push_back(std::move(value)); break;
    case '1': flags.fields["one_per_node"].push_back(std::move(value)); break;
    case 'e': flags.env.push_back(std::move(value)); break;
    case 'P': flags.fields["policy"].push_back(std::move(value)); break;
    case 'G': flags.fields["grace"].push_back(std::move(value)); break;
    case 'x': flags.fields["expose"].push_back(std::move(value)); break;
    case 'I': flags.job_fields["image"] = std::move(value); break;
    case 'u': flags.job_lists["mounts"].push_back(std::move(value)); break;
    case 'z': flags.zookeeper.push_back(std::move(value)); break;
    case 't': flags.timeouts.push_back(std::move(value)); break;
    case 'f': flags.job_lists["files"].push_back(std::move(value)); break;
    case 'n': flags.job_fields["name"] = std::move(value); break;
    case 'F': flags.framework = std::move(value); break;
    case 's': flags.job_fields["success"] = std::move(value); break;
    case 'R': flags.restarts = std::move(value); break;
    case 'o': flags.job_fields["on"] = std::move(value); break;
    case 'q': flags.queue = std::move(value); break;
    case 'Q': flags.job_fields["yarn.priority"] = std::move(value); break;
    case 'N': flags.job_lists["yarn.tags"].push_back(std::move(value)); break;
    case 'M': flags.job_fields["yarn.master.memory"] = std::move(value); break;
    case 'V': flags.job_fields["yarn.master.vcores"] = std::move(value); break;
    case 'O': flags.job_lists["outputs"].push_back(std::move(value)); break;
    case 'k': flags.job_fields["kubernetes.namespace"] = std::move(value); break;
    case 'K': flags.job_lists["kubernetes.node_selector"].push_back(std::move(value)); break;
    case 'w': flags.job_lists["kubernetes.image_pull_secrets"].push_back(std::move(value)); break;
    case 'W': flags.job_fields["kubernetes.gang_scheduling"] = std::move(value); break;
    case 'v': flags.job_fields["kubernetes.priority_class"] = std::move(value); break;
    case 'H': flags.hosts.push_back(std::move(value)); break;
    case 'C': flags.job_fields["containment"] = std::move(value); break;
    case 'T': flags.tensorboard = std::move(value); break;
    case '-': flags.command.push_back(std::move(value)); break;
    case '@': with_file = true; break;
    default: break;
  }
}

}  // namespace

// Any flags, alone or over a job file: never a crash, and whatever is a valid job reads back from
// its canonical JSON as the same job.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jobfile::Flags flags;
  bool with_file = false;
  for (std::string& line : gangrun::base::split(text, '\n')) {
    if (!line.empty()) give(line.front(), line.substr(1), flags, with_file);
  }
  std::optional<jobfile::JobDraft> draft;
  if (with_file) {
    auto parsed = jobfile::parse_spec(kFile, "job.yaml", gangrun::places::rules().sections());
    GANGRUN_CHECK(parsed.ok(), kFile);
    draft = std::move(*parsed);
  }
  const auto spec = jobfile::build(draft, flags, {.places = &gangrun::places::rules()});
  if (!spec.ok()) {
    GANGRUN_CHECK(!spec.error().message.empty(), size);
    return 0;
  }
  const gangrun::base::Json json = jobfile::to_json(*spec);
  const auto back = jobfile::job_spec_from_json(json, gangrun::places::rules().sections());
  GANGRUN_CHECK(back.ok() && *back == *spec, gangrun::base::dump_json(json));
  return 0;
}
