#include "client/submitted.h"

#include <string_view>

#include "base/format.h"
#include "client/place.h"
#include "client/run_record.h"

namespace gangrun::client {

ExitStatus leave_submitted(const std::string& id, const base::Json& json, const job::JobSpec& spec,
                           const RunOptions& options, Context& context) {
  keep_run(id, spec, options, context);
  if (options.when_submitted) return options.when_submitted(id, spec);
  if (options.display.json) {
    context.console.out(base::dump_json(json) + "\n");
    return ExitStatus::kSuccess;
  }
  context.console.out(id + "\n");
  if (!options.display.quiet) {
    const Place* place = context.places.find(spec.on);
    const std::string_view command = place == nullptr ? "attach" : place->launch.following_command;
    context.console.err(base::format(
        "gangrun: the job runs in the background; gangrun {} {} shows it\n", command, id));
  }
  return ExitStatus::kSuccess;
}

}  // namespace gangrun::client
