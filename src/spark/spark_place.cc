#include "spark/spark_place.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "agents/agents.h"
#include "client/fail.h"
#include "client/run_session.h"
#include "host/port_range.h"
#include "jobfile/place_rules.h"
#include "spark/spark_launcher.h"

namespace gangrun::spark {

namespace {

using base::Result;

constexpr std::string_view kWorksAtExecutor =
    "tasks work in the folder of their executor, which Spark removes: write what is to stay to a "
    "file system that all see";
constexpr std::string_view kShippedBySpark =
    "Spark ships files to its executors (spark.files, spark.archives, SparkContext.addFile)";
constexpr std::string_view kPlacedBySpark =
    "Spark decides where its executors are and what they have when it starts";
constexpr std::string_view kFixedSize =
    "every task joins once, from the executor that Spark gives it";
constexpr std::string_view kPort = "--port";
// The time that tasks that came by themselves outlive their master: nobody comes after it.
constexpr std::chrono::seconds kMasterLostOnSpark(10);

// The parts of a job that are possible where Spark decides about its executors.
jobfile::PlaceRules spark_rules() {
  using jobfile::Feature;
  return {.name = std::string(kSpark),
          .words = "Spark executors (only through the Python package)",
          .reference = "[`spark`](#spark)",
          .refusals = {
              {Feature::kRestarts, "nobody restarts a task there; allowed: 0"},
              {Feature::kFiles, kShippedBySpark},
              {Feature::kArchives, kShippedBySpark},
              {Feature::kImages, "the image is that of Spark's executors"},
              {Feature::kGpus, "Spark assigns GPUs (spark.task.resource.gpu.amount)"},
              {Feature::kOtherResources, "Spark assigns them (spark.task.resource.NAME.amount)"},
              {Feature::kLabels, kPlacedBySpark},
              {Feature::kOnePerNode, kPlacedBySpark},
              {Feature::kSpares, kFixedSize},
              {Feature::kSmallerGangs, kFixedSize},
              {Feature::kHosts, kPlacedBySpark},
              {Feature::kOutputs, kWorksAtExecutor},
              {Feature::kKeptFolders, kWorksAtExecutor}}};
}

class SparkBackend final : public host::Backend {
 public:
  [[nodiscard]] std::chrono::milliseconds master_lost(const job::JobSpec& /*spec*/,
                                                      bool /*tasks_outlive_us*/) const override {
    return kMasterLostOnSpark;
  }
  Result<host::MadeTasks> make_tasks(const host::BackendInput& input) override {
    const host::Ground& ground = input.ground;
    agents::AgentsOptions agents = host::agents_by_tls(input);
    agents.launch.lines = agents::LinesFor::kLogFolder;
    agents.launch.are_fed = true;
    auto launcher = std::make_unique<SparkLauncher>(ground.loop, input.launch.host);
    ground.server.serve_joins(
        [place = launcher.get()](const auto& request) { return place->join(request); });
    host::MadeTasks made{.tasks = std::make_unique<agents::Agents>(
                             ground.loop, ground.clock, ground.logger, ground.server,
                             std::move(launcher), std::move(agents)),
                         .come_by_tls = true,
                         .come_by_themselves = true,
                         .remarks = host::remarks_of(input.launch)};
    made.remarks.emplace_back(kWorksAtExecutor);
    return made;
  }
};

client::ExitStatus run_on_spark(job::JobSpec spec, const client::RunOptions& options,
                                client::Context& context) {
  auto plan = client::hosted_plan(std::move(spec), options, context);
  if (!plan.ok()) return client::fail(context, plan.error(), client::ExitStatus::kBadInput);
  if (const auto port = options.value_of_place(kPort)) {
    auto ports = host::port_range_from(*port).context(kPort);
    if (!ports.ok()) return client::fail(context, ports.error(), client::ExitStatus::kBadInput);
    plan->ports = *ports;
  }
  // Each task's own host decides.
  plan->launch.containment = plan->spec.containment;
  plan->where_tasks_work = kWorksAtExecutor;
  if (options.dry_run) return client::show_plan(*plan, options, context);
  plan->backend = std::make_unique<SparkBackend>();
  return client::run_job(*std::move(plan), options, context);
}

}  // namespace

client::Place spark_place() {
  std::vector<client::OwnFlag> flags = client::hosting_flags();
  flags.push_back({kPort, "N[-M]",
                   "With --on spark: the port, or range of ports, on which the job waits for its "
                   "tasks"});
  return {.rules = spark_rules(),
          .launch = {.run = run_on_spark,
                     .own_flags = std::move(flags),
                     .why_no_detach = "the job ends with its driver"}};
}

}  // namespace gangrun::spark
