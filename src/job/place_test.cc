#include "job/place.h"

#include <gmock/gmock.h>

#include "job/build.h"
#include "job/job_fields.h"

namespace gangrun::job {
namespace {

Found check_here(const JobSpec& job) {
  if (job.name != "bad") return std::nullopt;
  return Problem{"name", "is bad here"};
}
Found check_queue_there(const JobSpec& job) {
  if (job.yarn.queue != "x") return std::nullopt;
  return Problem{"there.queue", "is x"};
}

// Two that there are not: one with a section of its own, one that knows little.
Places two_places() {
  Place here{.name = "here",
             .other_name = "h",
             .words = "this one",
             .refusals = {{Feature::kGpus, "it has none"}},
             .is_beside_master = true,
             .check = check_here};
  Place there{
      .name = "there",
      .words = "that one",
      .features = {Feature::kRestarts, Feature::kFiles, Feature::kClusterFiles, Feature::kArchives,
                   Feature::kImages, Feature::kGpus, Feature::kOtherResources, Feature::kPods,
                   Feature::kLabels, Feature::kOnePerNode, Feature::kSpares, Feature::kSmallerGangs,
                   Feature::kHosts, Feature::kOutputs},
      .options = {{"", yarn_fields()}},
      .takes_other_sections = true,
      .queue = [](JobSpec& job) -> std::string& { return job.yarn.queue; },
      .check_options = check_queue_there};
  return Places({here, there});
}

JobSpec job_on(const std::string& place) {
  JobSpec job;
  job.name = "j";
  job.on = place;
  job.command.words = {"true"};
  job.tasks.emplace_back().type = "w";
  job.tasks[0].instances = 2;
  return job;
}

TEST(Place, EveryFeatureIsRefusedWhereItIsNotAndTakenWhereItIs) {
  using Change = std::function<void(JobSpec&)>;
  const std::pair<Change, std::string> changes[] = {
      {[](JobSpec& job) { job.restarts.max = 3; }, "restarts.max: '3'"},
      {[](JobSpec& job) { job.files = {"a"}; }, "files: 'a'"},
      {[](JobSpec& job) {
         job.archives = {{"e", "a.zip"}};
       },
       "archives.e: 'a.zip'"},
      {[](JobSpec& job) {
         job.tasks[0].archives = {{"e", "a"}};
       },
       "tasks.w.archives.e: 'a'"},
      {[](JobSpec& job) { job.image = "i"; }, "image: 'i'"},
      {[](JobSpec& job) { job.tasks[0].image = "i"; }, "tasks.w.image: 'i'"},
      {[](JobSpec& job) { job.tasks[0].resources.others["a"] = 1; }, "tasks.w.resources.a: '1'"},
      {[](JobSpec& job) { job.tasks[0].overrides[1].others["a"] = 2; },
       "tasks.w.overrides.1.resources.a: '2'"},
      {[](JobSpec& job) { job.tasks[0].pod = base::Json::object(); }, "tasks.w.pod: '{}'"},
      {[](JobSpec& job) { job.tasks[0].label = ""; }, "tasks.w.label: ''"},
      {[](JobSpec& job) { job.tasks[0].one_per_node = true; }, "tasks.w.one_per_node: 'true'"},
      {[](JobSpec& job) { job.tasks[0].spares = 1; }, "tasks.w.spares: '1'"},
      {[](JobSpec& job) { job.tasks[0].min_instances = 1; }, "tasks.w.min_instances: '1'"},
      {[](JobSpec& job) {
         job.hosts = {{"a", 2}};
       },
       "hosts: 'a:2'"},
      {[](JobSpec& job) { job.outputs = {"o"}; }, "outputs: 'o'"},
      {[](JobSpec& job) { job.tasks[0].outputs = {{"o"}}; }, "tasks.w.outputs: 'o'"},
  };
  for (const auto& [change, asked] : changes) {
    JobSpec job = job_on("here");
    change(job);
    const auto found = two_places().check(job);
    ASSERT_TRUE(found) << asked;
    EXPECT_EQ(found->path + ": " + found->text,
              asked + " is not allowed with `on: here`; allowed with `on: there`");
    job.on = "there";
    EXPECT_FALSE(two_places().check(job)) << asked;
  }
  JobSpec job = job_on("here");
  EXPECT_FALSE(two_places().check(job));
  // Only a file of a cluster is one that no path leads to.
  job.files = {"a", "hdfs://n/b"};
  EXPECT_EQ(find_asked(job, Feature::kClusterFiles)->path, "files.1");
}

TEST(Place, ARefusalOfItsOwnSaysWhy) {
  JobSpec job = job_on("here");
  job.tasks[0].resources.gpus = 2;
  EXPECT_EQ(two_places().check(job)->text, "'2' is not allowed with `on: here`; it has none");
  job = job_on("here");
  job.tasks[0].overrides[1].gpus = 1;
  EXPECT_EQ(two_places().check(job)->path, "tasks.w.overrides.1.gpus");
}

TEST(Place, ASectionIsCheckedWhereverTheJobRunsAndRefusedWhereItIsNotPassedOver) {
  JobSpec job = job_on("here");
  job.yarn.queue = "q";
  EXPECT_EQ(two_places().check(job)->path, "there.queue");
  EXPECT_EQ(two_places().check(job)->text,
            "'q' is not allowed with `on: here`; allowed with `on: there`");
  job.yarn.queue = "x";
  EXPECT_EQ(two_places().check(job)->text, "is x");
  job = job_on("here");
  job.name = "bad";
  EXPECT_EQ(two_places().check(job)->text, "is bad here");
  job.on = "there";
  EXPECT_FALSE(two_places().check(job));
}

TEST(Place, AnUnknownOneIsRefusedWithTheListOfThose) {
  EXPECT_EQ(two_places().check(job_on("ther"))->text,
            "'ther' is not a place; did you mean 'there'? allowed: here, there");
}

TEST(Place, BuildGivesItItsOneNameAndItsQueue) {
  const Places places = two_places();
  const Flags flags{.job_fields = {{"on", "h"}}, .command = {"true"}};
  const auto spec = build(std::nullopt, flags, {.places = &places});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->on, "here");
  EXPECT_TRUE(places.are_tasks_beside_master(*spec));
  Flags queue = flags;
  queue.queue = "q";
  EXPECT_EQ(build(std::nullopt, queue, {.places = &places}).error().message,
            "--queue: there.queue: 'q' is not allowed with `on: here`; allowed with `on: there`");
  queue.job_fields["on"] = "there";
  EXPECT_EQ(build(std::nullopt, queue, {.places = &places})->yarn.queue, "q");
  EXPECT_FALSE(build(std::nullopt, queue, {}).ok());
  EXPECT_EQ(places.words(&Place::words), "this one, or that one");
}

}  // namespace
}  // namespace gangrun::job
