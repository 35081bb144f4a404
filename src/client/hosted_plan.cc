#include <chrono>
#include <cstddef>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "client/fail.h"
#include "client/plan.h"
#include "client/prepare.h"
#include "client/run_session.h"
#include "client/sites.h"
#include "client/zookeeper_input.h"

namespace gangrun::client {

namespace {

constexpr std::chrono::seconds kResolveTimeout(5);
// The caller of gangrun may set this to tell the job's user where its tasks work.
constexpr const char* kRemarkVariable = "GANGRUN_REMARK";
constexpr std::size_t kMaxRemarkBytes = 512;

}  // namespace

std::vector<OwnFlag> hosting_flags() {
  return {{kHostFlag, "NAME",
           "Name or address of this machine for the tasks (default: 127.0.0.1); with --hosts, its "
           "address on their network"},
          {kServeTlsFlag, "", "Serve the job's registry to other hosts too, by TLS"}};
}

base::Result<RunPlan> hosted_plan(job::JobSpec spec, const RunOptions& options,
                                  const Context& context) {
  RunPlan plan;
  GANGRUN_ASSIGN(plan.home, home_of(context));
  GANGRUN_ASSIGN(auto host, host_for_tasks(spec, options.value_of_place(kHostFlag),
                                           context.clock.now() + kResolveTimeout));
  plan.spec = std::move(spec);
  GANGRUN_ASSIGN(plan.zookeeper_files, zookeeper_files(plan.spec, context));
  plan.launch.host = std::move(host.address);
  plan.launch.host_reason = std::move(host.reason);
  plan.launch.working_folder = context.folder;
  plan.launch.serve_tls = options.has_switch_of_place(kServeTlsFlag);
  plan.launch.verbose = options.display.verbose;
  plan.launch.remark = base::shorten(context.variable(kRemarkVariable), kMaxRemarkBytes);
  return plan;
}

ExitStatus show_plan(const RunPlan& run, const RunOptions& options, Context& context) {
  const Plan plan{.spec = run.spec,
                  .working_folder = context.folder,
                  .where_tasks_work = run.where_tasks_work,
                  .job_folder = base::format("{}/jobs/{}-<time>", run.home, run.spec.name),
                  .host = run.launch.host,
                  .containment = run.launch.containment,
                  .more = run.more,
                  .sources = options.sources};
  if (options.display.json) {
    const auto json = plan_json(plan);
    if (!json.ok()) return fail(context, json.error(), ExitStatus::kBadInput);
    context.console.out(base::dump_json_indented(*json) + "\n");
    return ExitStatus::kSuccess;
  }
  const auto lines = plan_lines(plan);
  if (!lines.ok()) return fail(context, lines.error(), ExitStatus::kBadInput);
  context.console.out(*lines);
  return ExitStatus::kSuccess;
}

}  // namespace gangrun::client
