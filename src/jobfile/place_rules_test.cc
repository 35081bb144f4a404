#include "jobfile/place_rules.h"

#include <gmock/gmock.h>

#include "job/sections.h"
#include "jobfile/build.h"
#include "jobfile/field_values.h"
#include "jobfile/job_fields.h"
#include "jobfile/plan_json.h"
#include "jobfile/section.h"
#include "jobfile/spec_yaml.h"
#include "jobfile/validate.h"

namespace gangrun::jobfile {
namespace {

// The section that only "there" knows.
struct ThereOptions {
  std::string queue;
  std::vector<std::string> colours;
  std::map<std::string, std::string> sizes;
  int depth = 1;
  bool deep = false;

  static constexpr std::string_view kKey = "there";
  static const Section& section();

  friend bool operator==(const ThereOptions&, const ThereOptions&) = default;
};

base::Result<std::string> take_size(std::string_view item, job::JobSpec& job) {
  if (item.empty()) return base::invalid_argument("is empty");
  job.sections.edit<ThereOptions>().sizes[std::string(item)] = "x";
  return std::string(item);
}

constexpr FieldRow<job::JobSpec> kDeepFields[] = {
    section_field<&ThereOptions::depth>({.key = "depth", .min = 1, .max = 9}),
};
constexpr FieldRow<job::JobSpec> kThereFields[] = {
    section_field<&ThereOptions::queue>({.key = "queue", .allowed = "a queue"}),
    section_field<&ThereOptions::colours>(
        {.key = "colours",
         .allowed = "colours, a colour",
         .flag = {.names = "--colour", .forms = FlagForms::kEach, .adds = true}}),
    section_field<&ThereOptions::deep>(
        {.key = "deep", .flag = {.names = "--deep", .forms = FlagForms::kSwitch}}),
    own_field<job::JobSpec>(
        {.key = "sizes", .flag = {.names = "--size", .forms = FlagForms::kItems}},
        [](const Field& field, job::JobSpec& job) {
          return read_texts(field, {}, job.sections.edit<ThereOptions>().sizes);
        },
        [](const job::JobSpec& job, job::PlanForm /*form*/) {
          return plain_json(job.sections.get<ThereOptions>().sizes);
        },
        take_size),
    own_field<job::JobSpec>(
        {.key = "pit"},
        [](const Field& field, job::JobSpec& job) {
          return read_fields<job::JobSpec>(field, kDeepFields, job);
        },
        [](const job::JobSpec& job, job::PlanForm form) {
          return json_of_fields<job::JobSpec>(kDeepFields, job, form);
        }),
};

const Section& ThereOptions::section() {
  static const Section kSection{.key = "there",
                                .about = "Settings for there",
                                .fields = kThereFields,
                                .parts = {{"pit.", kDeepFields}},
                                .make = job::make_options<ThereOptions>};
  return kSection;
}

Found check_here(const job::JobSpec& job) {
  if (job.name != "bad") return std::nullopt;
  return Problem{"name", "is bad here"};
}
Found check_queue_there(const job::JobSpec& job) {
  if (job.sections.get<ThereOptions>().queue != "x") return std::nullopt;
  return Problem{"there.queue", "is x"};
}

// Two that there are not: one with a section of its own, one that knows little.
RulesOfPlaces two_places() {
  PlaceRules here{.name = "here",
                  .other_name = "h",
                  .words = "this one",
                  .refusals = {{Feature::kGpus, "it has none"}},
                  .is_beside_master = true,
                  .check = check_here};
  PlaceRules there{
      .name = "there",
      .words = "that one",
      .features = {Feature::kRestarts, Feature::kFiles, Feature::kClusterFiles, Feature::kArchives,
                   Feature::kImages, Feature::kGpus, Feature::kOtherResources, Feature::kPods,
                   Feature::kLabels, Feature::kOnePerNode, Feature::kSpares, Feature::kSmallerGangs,
                   Feature::kHosts, Feature::kOutputs},
      .section = &ThereOptions::section(),
      .queue = [](job::JobSpec& job) -> std::string& {
        return job.sections.edit<ThereOptions>().queue;
      },
      .check_options = check_queue_there};
  return RulesOfPlaces({here, there});
}

job::JobSpec job_on(const std::string& place) {
  job::JobSpec job;
  job.name = "j";
  job.on = place;
  job.command.words = {"true"};
  job.tasks.emplace_back().type = "w";
  job.tasks[0].instances = 2;
  return job;
}

TEST(Place, EveryFeatureIsRefusedWhereItIsNotAndTakenWhereItIs) {
  using Change = std::function<void(job::JobSpec&)>;
  const std::pair<Change, std::string> changes[] = {
      {[](job::JobSpec& job) { job.restarts.max = 3; }, "restarts.max: '3'"},
      {[](job::JobSpec& job) { job.files = {"a"}; }, "files: 'a'"},
      {[](job::JobSpec& job) {
         job.archives = {{"e", "a.zip"}};
       },
       "archives.e: 'a.zip'"},
      {[](job::JobSpec& job) {
         job.tasks[0].archives = {{"e", "a"}};
       },
       "tasks.w.archives.e: 'a'"},
      {[](job::JobSpec& job) { job.image = "i"; }, "image: 'i'"},
      {[](job::JobSpec& job) { job.tasks[0].image = "i"; }, "tasks.w.image: 'i'"},
      {[](job::JobSpec& job) { job.tasks[0].resources.others["a"] = 1; },
       "tasks.w.resources.a: '1'"},
      {[](job::JobSpec& job) { job.tasks[0].overrides[1].others["a"] = 2; },
       "tasks.w.overrides.1.resources.a: '2'"},
      {[](job::JobSpec& job) { job.tasks[0].pod = base::Json::object(); }, "tasks.w.pod: '{}'"},
      {[](job::JobSpec& job) { job.tasks[0].label = ""; }, "tasks.w.label: ''"},
      {[](job::JobSpec& job) { job.tasks[0].one_per_node = true; }, "tasks.w.one_per_node: 'true'"},
      {[](job::JobSpec& job) { job.tasks[0].spares = 1; }, "tasks.w.spares: '1'"},
      {[](job::JobSpec& job) { job.tasks[0].min_instances = 1; }, "tasks.w.min_instances: '1'"},
      {[](job::JobSpec& job) {
         job.hosts = {{"a", 2}};
       },
       "hosts: 'a:2'"},
      {[](job::JobSpec& job) { job.outputs = {"o"}; }, "outputs: 'o'"},
      {[](job::JobSpec& job) { job.tasks[0].outputs = {{"o"}}; }, "tasks.w.outputs: 'o'"},
  };
  for (const auto& [change, asked] : changes) {
    job::JobSpec job = job_on("here");
    change(job);
    const auto found = two_places().check(job);
    ASSERT_TRUE(found) << asked;
    EXPECT_EQ(found->path + ": " + found->text,
              asked + " is not allowed with `on: here`; allowed with `on: there`");
    job.on = "there";
    EXPECT_FALSE(two_places().check(job)) << asked;
  }
  job::JobSpec job = job_on("here");
  EXPECT_FALSE(two_places().check(job));
  // Only a file of a cluster is one that no path leads to.
  job.files = {"a", "hdfs://n/b"};
  EXPECT_EQ(find_asked(job, Feature::kClusterFiles)->path, "files.1");
}

TEST(Place, ARefusalOfItsOwnSaysWhy) {
  job::JobSpec job = job_on("here");
  job.tasks[0].resources.gpus = 2;
  EXPECT_EQ(two_places().check(job)->text, "'2' is not allowed with `on: here`; it has none");
  job = job_on("here");
  job.tasks[0].overrides[1].gpus = 1;
  EXPECT_EQ(two_places().check(job)->path, "tasks.w.overrides.1.gpus");
}

TEST(Place, ASectionIsCheckedWhereverTheJobRuns) {
  job::JobSpec job = job_on("here");
  job.sections.edit<ThereOptions>().queue = "q";
  EXPECT_FALSE(two_places().check(job));
  job.sections.edit<ThereOptions>().queue = "x";
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
  const RulesOfPlaces places = two_places();
  const Flags flags{.job_fields = {{"on", "h"}}, .command = {"true"}};
  const auto spec = build(std::nullopt, flags, {.places = &places});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->on, "here");
  EXPECT_TRUE(places.are_tasks_beside_master(*spec));
  Flags queue = flags;
  queue.queue = "q";
  EXPECT_EQ(build(std::nullopt, queue, {.places = &places}).error().message,
            "--queue: there.queue is not allowed with `on: here`; allowed with `on: there`");
  queue.job_fields["on"] = "there";
  EXPECT_EQ(build(std::nullopt, queue, {.places = &places})->sections.get<ThereOptions>().queue,
            "q");
  EXPECT_FALSE(build(std::nullopt, queue, {}).ok());
  EXPECT_EQ(places.words(&PlaceRules::words), "this one, or that one");
}

// A file for a cluster can be tried where labels and queues are not.
TEST(Place, WhatHasNoUseIsTakenFromAFileAndRefusedAsAFlag) {
  std::vector<PlaceRules> all = two_places().all();
  all[0].without_use = {Feature::kLabels, Feature::kOnePerNode};
  const RulesOfPlaces places(all);
  const auto draft = parse_spec(
      "tasks: {w: {label: gpu, one_per_node: true}}\ncommand: x\non: here\nthere: {queue: q}\n",
      "job.yaml", places.sections());
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  const auto spec = build(*draft, {}, {.places = &places});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(places.without_use(*spec),
              testing::ElementsAre("there", "tasks.w.label", "tasks.w.one_per_node"));
  EXPECT_THAT(places.without_use(job_on("here")), testing::IsEmpty());
  EXPECT_THAT(places.without_use(job_on("there")), testing::IsEmpty());
  Flags flags;
  flags.fields["label"] = {"cpu"};
  EXPECT_EQ(build(*draft, flags, {.places = &places}).error().message,
            "--label: tasks.w.label: 'cpu' is not allowed with `on: here`; allowed with `on: "
            "there`");
}

TEST(Place, ItsSectionIsReadWrittenAndCheckedByItsRows) {
  const RulesOfPlaces places = two_places();
  const auto draft =
      parse_spec("tasks: {w: }\ncommand: x\non: there\nthere: {colours: [red], pit: {depth: 3}}\n",
                 "job.yaml", places.sections());
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  Flags flags;
  flags.job_lists = {{"there.colours", {"blue, dark", "green"}}, {"there.sizes", {"s,m"}}};
  flags.job_switches = {{"there.deep", true}};
  const auto spec = build(*draft, flags, {.places = &places});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const auto& own = spec->sections.get<ThereOptions>();
  EXPECT_THAT(own.colours, testing::ElementsAre("red", "blue, dark", "green"));
  EXPECT_THAT(own.sizes, testing::ElementsAre(testing::Pair("m", "x"), testing::Pair("s", "x")));
  EXPECT_TRUE(own.deep);
  EXPECT_EQ(
      base::dump_json(to_json(*spec).at("there")),
      R"({"colours":["red","blue, dark","green"],"deep":true,"sizes":{"m":"x","s":"x"},"pit":{"depth":3}})");

  job::JobSpec bad = *spec;
  bad.sections.edit<ThereOptions>().depth = 10;
  EXPECT_EQ(find_problem(bad)->path, "there.pit.depth");
  bad.on = "here";
  EXPECT_EQ(find_problem(bad, places)->path, "there.pit.depth");
  flags.job_lists["there.sizes"] = {","};
  EXPECT_EQ(build(*draft, flags, {.places = &places}).error().message, "--size: '': is empty");
  flags.job_lists = {{"there.pit", {"a"}}};
  EXPECT_EQ(build(*draft, flags, {.places = &places}).error().code, base::Code::kInternal);
}

}  // namespace
}  // namespace gangrun::jobfile
