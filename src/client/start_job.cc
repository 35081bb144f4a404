#include "client/start_job.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "client/command.h"
#include "client/default_files.h"
#include "client/fail.h"
#include "client/given_variables.h"
#include "client/place.h"
#include "client/plan_sources.h"
#include "client/prepare.h"
#include "client/text.h"
#include "host/job_master.h"

namespace gangrun::client {

namespace {

// For mpirun and srun -n is the number of tasks.
base::Error told_of_tasks(const base::Error& error, const RunOptions& options) {
  const jobfile::Flags& flags = options.flags;
  constexpr std::string_view kNamespace = "kubernetes.namespace";
  const auto given = flags.job_fields.find(kNamespace);
  if (given == flags.job_fields.end() || !given->second) return error;
  // "-np 4" is the namespace "p" and the job file "4".
  const auto tasks = base::parse_integer(options.spec_path);
  if (*given->second == "p" && tasks && *tasks > 0) {
    return base::invalid_argument(base::format(
        "-np {0}: -n is the namespace on Kubernetes; to start {0} tasks, use -r worker:{0}",
        *tasks));
  }
  if (error.message.find(kNamespace) == std::string::npos) return error;
  const auto count = base::parse_integer(*given->second);
  if (!count || *count < 1) return error;
  return base::invalid_argument(base::format(
      "-n {0}: -n is the namespace on Kubernetes; to start {0} tasks, use -r worker:{0}", *count));
}

base::Result<job::JobSpec> settle_input(RunOptions& options, const Context& context,
                                        std::vector<std::string>& without_use) {
  GANGRUN_TRY(check_display(options.display));
  if (context.folder.empty()) {
    return base::Error{base::Code::kFailedPrecondition,
                       "the current folder, in which the tasks would run, is gone or cannot be "
                       "read; cd to another one"};
  }
  const auto text = read_spec_text(options, context.folder);
  if (!text.ok()) return told_of_tasks(text.error(), options);
  if (options.no_defaults) options.defaults.emplace();
  if (!options.defaults) {
    GANGRUN_ASSIGN(options.defaults, read_default_files(context));
  }
  auto read =
      read_job(options, context.folder, context.places.rules(), &without_use, &options.sources);
  if (!read.ok()) return told_of_tasks(read.error(), options);
  job::JobSpec spec = *std::move(read);
  GANGRUN_TRY(context.places.check_flags(options, spec));
  const Place& place = *context.places.find(spec.on);
  GANGRUN_TRY(check_files(spec, context.folder, place.rules.brings_files));
  if (place.launch.has_master_here) GANGRUN_TRY(host::check_open_files(spec));
  return spec;
}

// The user may not think of them.
ExitStatus tell_defaults(ExitStatus status, const RunOptions& options, Context& context) {
  const std::string in_use = defaults_in_use(options.sources);
  if (status != ExitStatus::kBadInput || in_use.empty()) return status;
  context.console.error(
      base::format("defaults count for this job: {}; --no-defaults or {}=1 leaves them out",
                   harmless_sentence(in_use), kNoDefaultsVariable));
  return status;
}

}  // namespace

ExitStatus start_job(RunOptions options, Context& context) {
  auto settled = settle_variables(options, context.environment, context.folder);
  if (!settled.ok()) return fail(context, settled.error(), ExitStatus::kBadInput);
  std::vector<std::string> without_use;
  auto spec = settle_input(options, context, without_use);
  if (!spec.ok()) {
    return tell_defaults(fail(context, spec.error(), ExitStatus::kBadInput), options, context);
  }
  if (!without_use.empty()) {
    context.console.error(
        base::format("not used with `on: {}`: {}", spec->on, base::join(without_use, ", ")));
  }
  const Place& place = *context.places.find(spec->on);
  return tell_defaults(place.launch.run(*std::move(spec), options, context), options, context);
}

}  // namespace gangrun::client
