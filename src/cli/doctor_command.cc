#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/flags.h"
#include "cli/yarn_doctor.h"
#include "cluster/local/local_rules.h"
#include "cluster/yarn/yarn_rules.h"
#include "job/spec.h"

namespace gangrun::cli {

namespace {

struct DoctorOptions {
  std::optional<std::string> on;
  std::optional<std::string> queue;
  std::vector<std::string> file_systems;
  std::optional<std::string> python;
  bool remote = false;
  bool json = false;
};

ExitStatus show_checks(const std::vector<cluster::Check>& checks, std::string_view place, bool json,
                       Context& context) {
  const auto size = context.console.size();
  if (json) {
    context.console.out(base::dump_json(checks_json(checks)) + "\n");
  } else {
    context.console.out(checks_lines(checks, place, size ? size->columns : 0));
  }
  return cluster::any_failed(checks) ? ExitStatus::kCouldNotStart : ExitStatus::kSuccess;
}

ExitStatus look(const DoctorOptions& options, Context& context) {
  std::vector<cluster::Check> checks;
  const DoctorListener listener{
      .begins = [](Part) {},
      .found = [&checks](Part, const cluster::Check& check) { checks.push_back(check); },
      .writes = [](const std::string&) {}};
  const auto whole = look_at_yarn({.queue = options.queue.value_or(""),
                                   .file_systems = options.file_systems,
                                   .python = options.python,
                                   .from_node = options.remote,
                                   .base_folder = "",
                                   .file = "hello.txt"},
                                  listener, context);
  if (!whole.ok()) return fail(context, whole.error());
  const ExitStatus status = show_checks(checks, "this cluster", options.json, context);
  return *whole ? status : ExitStatus::kInterrupted;
}

ExitStatus run(const DoctorOptions& options, Context& context) {
  const std::string on = options.on.value_or(std::string(cluster::kLocal));
  if (on == cluster::kYarn) return look(options, context);
  if (on != cluster::kLocal) {
    return fail(
        context,
        base::invalid_argument(base::format("--on: {} is not a known place; allowed: {}, {}", on,
                                            cluster::kLocal, cluster::kYarn)),
        ExitStatus::kBadInput);
  }
  if (options.remote || options.queue || options.python || !options.file_systems.empty()) {
    return fail(
        context,
        base::invalid_argument(
            "--remote, --queue, --file-system and --python apply to a cluster; add --on yarn"),
        ExitStatus::kBadInput);
  }
  return show_checks(check_this_machine(context), "this machine", options.json, context);
}

}  // namespace

void add_doctor(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "doctor", "Check whether this machine, or a cluster, can run jobs.");
  const auto options = std::make_shared<DoctorOptions>();
  add_value(*command, "--on", options->on, "local|yarn", "What to check (local)");
  add_flag(*command, "--remote", options->remote,
           "On YARN: also run a small job, and check from inside its container");
  add_value(*command, "-q,--queue", options->queue, "NAME",
            "On YARN: the queue to submit to (default)");
  add_list(*command, "--file-system", options->file_systems, "URL",
           "On YARN: an additional file system to check: hdfs://other");
  add_value(*command, "--python", options->python, "FILE",
            "On YARN: the Python whose TensorFlow must reach HDFS (default: python3)");
  add_flag(*command, "--json", options->json, "Print a JSON object");
  add_footer(*command,
             "Exits with 0 if jobs can run, otherwise with 3.\n\nExamples:\n  gangrun doctor\n  "
             "gangrun doctor --on yarn --remote --queue ml\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](Context& context) { return run(*options, context); };
  });
}

}  // namespace gangrun::cli
