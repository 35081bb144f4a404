#include "client/start_job.h"

#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
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

base::Error explained(base::Error error, const RunOptions& options, const Context& context) {
  for (const Place& place : context.places.all()) {
    if (place.launch.explain) error = place.launch.explain(error, options);
  }
  return error;
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
  if (!text.ok()) return explained(text.error(), options, context);
  if (options.no_defaults) options.defaults.emplace();
  if (!options.defaults) {
    GANGRUN_ASSIGN(options.defaults, read_default_files(context));
  }
  auto read =
      read_job(options, context.folder, context.places.rules(), &without_use, &options.sources);
  if (!read.ok()) return explained(read.error(), options, context);
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
