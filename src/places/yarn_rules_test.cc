#include <gmock/gmock.h>

#include <functional>

#include "base/format.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/build.h"
#include "jobfile/spec_yaml.h"
#include "jobfile/validate.h"
#include "places/places.h"
#include "yarn/yarn_options.h"

namespace gangrun::jobfile {
namespace {

base::Result<job::JobSpec> build_place(std::string_view yaml, const Flags& flags) {
  std::optional<JobDraft> draft;
  if (!yaml.empty()) {
    GANGRUN_ASSIGN(draft, parse_spec(yaml, "job.yaml", places::rules().sections()));
  }
  return build(draft, flags, {draft ? "job.yaml" : "", &places::rules()});
}

job::JobSpec built_place(std::string_view yaml, const Flags& flags) {
  auto spec = build_place(yaml, flags);
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  return spec.value_or(job::JobSpec{});
}

std::string places_error(std::string_view yaml, const Flags& flags = {}) {
  const auto spec = build_place(yaml, flags);
  return spec.ok() ? "" : spec.error().message;
}

constexpr std::string_view kOnYarn = R"(tasks:
  worker: {instances: 2, label: gpu, resources: {yarn.io/fpga: 1}, overrides: {1: {resources: {yarn.io/fpga: 3, disk: 2}}}}
  ps: {one_per_node: true}
command: x
on: yarn
timeouts: {hold: 30 s}
yarn:
  queue: root.research
  priority: 3
  tags: [night, wine]
  master: {memory: 512, vcores: 2, label: fast}
  view_acl: "ann,bob research"
  modify_acl: "*"
  max_attempts: 4
  container_runtime: none
  file_systems: ["hdfs://other:8020"]
  principal: ann@R
  keytab: ann.keytab
)";

TEST(Places, AFileSaysWhatAClusterIsTold) {
  const job::JobSpec spec = built_place(kOnYarn, {});
  const job::TaskSpec& worker = *spec.find("worker");
  using Others = std::map<std::string, std::int64_t>;
  EXPECT_EQ(worker.label, "gpu");
  EXPECT_EQ(worker.resources_of(0).others, (Others{{"yarn.io/fpga", 1}}));
  EXPECT_EQ(worker.resources_of(1).others, (Others{{"disk", 2}, {"yarn.io/fpga", 3}}));
  EXPECT_FALSE(worker.one_per_node);
  EXPECT_TRUE(spec.find("ps")->one_per_node);
  EXPECT_FALSE(spec.find("ps")->label.has_value());
  EXPECT_EQ(spec.timeouts.hold, std::chrono::seconds(30));
  yarn::YarnOptions expected;
  expected.queue = "root.research";
  expected.priority = 3;
  expected.tags = {"night", "wine"};
  expected.master = {.memory_mib = 512, .vcores = 2};
  expected.master_label = "fast";
  expected.view_acl = "ann,bob research";
  expected.modify_acl = "*";
  expected.max_attempts = 4;
  expected.container_runtime = yarn::ContainerRuntime::kNone;
  expected.file_systems = {"hdfs://other:8020"};
  expected.principal = "ann@R";
  expected.keytab = "ann.keytab";
  EXPECT_EQ(yarn::yarn_of(spec), expected);
}

TEST(Places, FlagsWinOverTheFile) {
  const job::JobSpec spec =
      built_place(kOnYarn, {.fields = {{"label", {"ps:"}}, {"one_per_node", {"worker,ps"}}},
                            .job_fields = {{"yarn.priority", "0"},
                                           {"yarn.master.memory", "1g"},
                                           {"yarn.master.vcores", "1"}},
                            .job_lists = {{"yarn.tags", {"day,red", "sweet"}}},
                            .resources = {"yarn.io/fpga=5,worker[0]:disk=9"},
                            .timeouts = {"hold=5s"},
                            .queue = "b"});
  const job::TaskSpec& worker = *spec.find("worker");
  using Others = std::map<std::string, std::int64_t>;
  EXPECT_EQ(worker.resources_of(0).others, (Others{{"disk", 9}, {"yarn.io/fpga", 5}}));
  EXPECT_EQ(worker.resources_of(1).others, (Others{{"disk", 2}, {"yarn.io/fpga", 5}}));
  EXPECT_EQ(spec.find("ps")->resources.others, (Others{{"yarn.io/fpga", 5}}));
  EXPECT_EQ(worker.label, "gpu");
  EXPECT_EQ(spec.find("ps")->label, "");
  EXPECT_TRUE(worker.one_per_node);
  EXPECT_EQ(spec.timeouts.hold, std::chrono::seconds(5));
  EXPECT_EQ(yarn::yarn_of(spec).queue, "b");
  EXPECT_EQ(yarn::yarn_of(spec).priority, 0);
  EXPECT_THAT(yarn::yarn_of(spec).tags, testing::ElementsAre("day", "red", "sweet"));
  EXPECT_EQ(yarn::yarn_of(spec).master, (job::Resources{.memory_mib = 1024, .vcores = 1}));
  EXPECT_EQ(yarn::yarn_of(spec).master_label, "fast");
}

TEST(Places, TheMoreSpecificFlagWins) {
  const job::JobSpec spec = built_place("", {.roles = {"ps:2,worker:2"},
                                             .fields = {{"label", {"worker:gpu", "cpu"}}},
                                             .job_fields = {{"on", "yarn"}},
                                             .resources = {"ps[1]:a=3", "ps:a=2", "a=1"},
                                             .command = {"x"}});
  EXPECT_EQ(spec.find("worker")->resources.others.at("a"), 1);
  EXPECT_EQ(spec.find("ps")->resources_of(0).others.at("a"), 2);
  EXPECT_EQ(spec.find("ps")->resources_of(1).others.at("a"), 3);
  EXPECT_EQ(spec.find("worker")->label, "gpu");
  EXPECT_EQ(spec.find("ps")->label, "cpu");
}

TEST(Places, DefaultsOfACluster) {
  const job::JobSpec spec = built_place("", {.job_fields = {{"on", "yarn"}}, .command = {"x"}});
  EXPECT_EQ(yarn::yarn_of(spec), yarn::YarnOptions{});
  EXPECT_EQ(yarn::yarn_of(spec).master, (job::Resources{.memory_mib = 256, .vcores = 1}));
  EXPECT_EQ(spec.timeouts.hold, std::chrono::minutes(1));
}

// P8: what this machine would have to leave out.
TEST(Places, ThisMachineRefusesWhatOnlyAClusterHas) {
  const std::string refused = " is not allowed with `on: local`; allowed with `on: yarn`";
  const std::pair<const char*, std::string> files[] = {
      {"tasks: {w: {resources: {yarn.io/fpga: 2}}}\ncommand: x\n",
       "job.yaml:1:39: tasks.w.resources.yarn.io/fpga: '2'"},
      {"tasks: {w: {overrides: {0: {resources: {a: 2}}}}}\ncommand: x\n",
       "job.yaml:1:44: tasks.w.overrides.0.resources.a: '2'"},
      {"tasks: {w: }\ncommand: x\nfiles: [a, 'hdfs:///b']\n", "job.yaml:3:8: files.1: 'hdfs:///b'"},
  };
  for (const auto& [file, message] : files) EXPECT_EQ(places_error(file), message + refused);
  const std::pair<Flags, std::string> flags[] = {
      {{.resources = {"worker[0]:a=1"}}, "--resource: tasks.worker.overrides.0.resources.a: '1'"},
      {{.resources = {"a=1"}}, "--resource: tasks.worker.resources.a: '1'"},
      {{.fields = {{"label", {"gpu"}}}}, "--label: tasks.worker.label: 'gpu'"},
      {{.fields = {{"one_per_node", {"worker"}}}},
       "--one-per-node: tasks.worker.one_per_node: 'true'"},
      {{.queue = "a"}, "--queue: yarn.queue"},
      {{.job_fields = {{"yarn.priority", "1"}}}, "--priority: yarn.priority"},
      {{.job_lists = {{"yarn.tags", {"a"}}}}, "--tag: yarn.tags"},
      {{.job_fields = {{"yarn.master.memory", "2g"}}}, "--master-memory: yarn.master.memory"},
      {{.job_fields = {{"yarn.master.vcores", "2"}}}, "--master-vcores: yarn.master.vcores"},
      {{.job_lists = {{"files", {"webhdfs://a/b"}}}}, "-f: files.0: 'webhdfs://a/b'"},
  };
  for (const auto& [given, message] : flags) {
    EXPECT_EQ(places_error("tasks: {worker: }\ncommand: x\n", given), message + refused);
  }
  EXPECT_EQ(places_error("tasks: {w: {one_per_node: false, resources: }}\ncommand: x\nyarn:\n"
                         "timeouts: {hold: 3 s}\n"),
            "");
}

// A user who tries a file for a cluster here learns which parts of it have no use.
TEST(Places, ThisMachineTakesAFileForAClusterAndNamesWhatItIgnores) {
  const auto draft = parse_spec(
      "tasks: {w: {label: gpu, one_per_node: true}}\ncommand: x\nyarn: {queue: a, "
      "master: "
      "{vcores: 2}}\nkubernetes: {namespace: n}\nssh: {folder: /a}\n",
      "job.yaml", places::rules().sections());
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  const auto spec = build(*draft, {}, {"job.yaml", &places::rules()});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(places::rules().without_use(*spec),
              testing::UnorderedElementsAre("yarn", "kubernetes", "ssh", "tasks.w.label",
                                            "tasks.w.one_per_node"));
}

std::vector<std::string> without_use(std::string_view yaml, const std::string& on,
                                     Flags flags = {}) {
  const auto draft = parse_spec(yaml, "job.yaml", places::rules().sections());
  EXPECT_TRUE(draft.ok()) << draft.error().message;
  std::vector<std::string> found;
  flags.job_fields["on"] = on;
  const auto spec = build(*draft, flags, {"job.yaml", &places::rules(), &found});
  if (!spec.ok()) return {spec.error().message};
  if (!flags.hosts.empty() || on == "ssh") return found;
  EXPECT_THAT(spec->hosts, testing::IsEmpty());
  return found;
}

// With `--on local`, hosts of `on: ssh` were looked for among the network namespaces here, and
// Spark refused sections of other places.
TEST(Places, AFileForOnePlaceIsTriedAtAnotherAndItsPlacementIsNamedAndIgnored) {
  using testing::UnorderedElementsAre;
  constexpr std::string_view kOnSsh =
      "tasks: {w: }\ncommand: x\non: ssh\nhosts: [a, b]\nssh: {folder: /a}\n";
  EXPECT_THAT(without_use(kOnSsh, "local"), UnorderedElementsAre("hosts", "ssh"));
  EXPECT_THAT(without_use(kOnSsh, "spark"), UnorderedElementsAre("hosts", "ssh"));
  EXPECT_THAT(without_use(kOnSsh, "yarn"), UnorderedElementsAre("hosts", "ssh"));
  EXPECT_THAT(without_use(kOnSsh, "ssh"), testing::IsEmpty());
  Flags flags;
  flags.hosts = {"h1"};
  EXPECT_THAT(without_use(kOnSsh, "local", flags), UnorderedElementsAre("ssh"));
  constexpr std::string_view kForCluster =
      "tasks: {w: {label: gpu, one_per_node: true}}\ncommand: x\nhosts: [a]\nyarn: {queue: q}\n";
  constexpr std::string_view kWithImage =
      "tasks: {w: {label: gpu, image: i}}\ncommand: x\nhosts: [a]\n";
  EXPECT_THAT(without_use(kForCluster, "spark"),
              UnorderedElementsAre("yarn", "hosts", "tasks.w.label", "tasks.w.one_per_node"));
  EXPECT_THAT(without_use(kForCluster, "ssh"),
              UnorderedElementsAre("tasks.w.label", "tasks.w.one_per_node"));
  EXPECT_THAT(without_use(kWithImage, "kubernetes"),
              UnorderedElementsAre("hosts", "tasks.w.label"));
  // A flag is for its own place, and is refused as before.
  EXPECT_EQ(places_error("tasks: {w: {label: gpu}}\ncommand: x\non: ssh\nhosts: [a]\n"),
            "job.yaml:1:20: tasks.w.label: 'gpu' is not allowed with `on: ssh`; allowed: `hosts`, "
            "which says what runs where");
  flags = {};
  flags.fields["label"] = {"cpu"};
  EXPECT_THAT(without_use(kOnSsh, "spark", flags),
              testing::ElementsAre(testing::HasSubstr("'cpu' is not allowed with `on: spark`")));
}

TEST(Places, ThisMachineUnpacksNone) {
  EXPECT_EQ(places_error("tasks: {w: }\ncommand: x\narchives: {env: a.zip}\n"),
            "job.yaml:3:12: archives.env: 'a.zip' is not allowed with `on: local`; allowed with "
            "`on: yarn`");
  EXPECT_EQ(places_error("tasks: {w: {archives: {env: a.zip}}}\ncommand: x\n"),
            "job.yaml:1:24: tasks.w.archives.env: 'a.zip' is not allowed with `on: local`; allowed "
            "with `on: yarn`");
}

TEST(Places, AClusterRefusesWhatOnlyThisMachineHas) {
  const std::pair<const char*, const char*> cases[] = {
      {"tasks: {w: }\ncommand: x\non: yarn\nhosts: [h1:2, h2]\n",
       "job.yaml:4:8: hosts: 'h1:2' is not allowed with `on: yarn`; allowed with `on: local`"},
      {"tasks: {w: }\ncommand: x\non: yarn\nfiles: ['s3a://b/c']\n",
       "job.yaml:4:8: files.0: 's3a://b/c' is not in a file system of a cluster; allowed: paths, "
       "and URLs of hdfs, viewfs, webhdfs"},
      {"tasks: {w: }\ncommand: x\non: yarn\nfiles: ['hdfs://nn/']\n",
       "job.yaml:4:8: files.0: 'hdfs://nn/' gives the file no name; allowed: a URL that ends in a "
       "file's name, or in #name without '/'"},
      {"tasks: {w: }\ncommand: x\non: yarnn\n",
       "job.yaml:3:5: on: 'yarnn' is not a place; did you mean 'yarn'? allowed: local, yarn, "
       "kubernetes, ssh, spark"},
  };
  for (const auto& [file, message] : cases) EXPECT_EQ(places_error(file), message);
  EXPECT_EQ(places_error("tasks: {w: }\ncommand: x\non: yarn\nfiles: ['hdfs://nn/a', b, 'c://']\n"),
            "job.yaml:4:8: files.2: 'c://' is not in a file system of a cluster; allowed: paths, "
            "and URLs of hdfs, viewfs, webhdfs");
}

TEST(Places, ErrorsInAFileSayWhereTheyStand) {
  const std::pair<const char*, const char*> cases[] = {
      {"tasks: {w: {one_per_node: yes}}\n",
       "job.yaml:1:27: tasks.w.one_per_node: 'yes' is not allowed; allowed: true or false"},
      {"tasks: {w: {label: [a]}}\n",
       "job.yaml:1:20: tasks.w.label: a list is not allowed; allowed: a node label; nodes without "
       "one are \"\""},
      {"tasks: {w: {label: 'a b'}}\ncommand: x\non: yarn\n",
       "job.yaml:1:20: tasks.w.label: 'a b' is not a node label; allowed: a letter or digit, then "
       "at most 254 letters, digits, '_' or '-'; nothing for the nodes without one"},
      {"tasks: {w: {resources: 2}}\n",
       "job.yaml:1:24: tasks.w.resources: '2' is not allowed; allowed: a map of resources to "
       "numbers, for example {yarn.io/fpga: 1}"},
      {"tasks: {w: {resources: {yarn.io/gpu: 1}}}\n",
       "job.yaml:1:25: tasks.w.resources: 'yarn.io/gpu' has a key of its own: gpus"},
      {"tasks: {w: {resources: {a: [1]}}}\n",
       "job.yaml:1:28: tasks.w.resources.a: a list is not allowed; allowed: a whole number"},
      {"tasks: {w: {resources: {a: 1Gi}}}\n",
       "job.yaml:1:28: tasks.w.resources.a: '1Gi' is not allowed; allowed: a whole number from 0 "
       "to 1125899906842624"},
      {"tasks: {w: }\nyarn: {queues: a}\n",
       "job.yaml:2:8: yarn: 'queues' is not a known key; did you mean 'queue'? allowed: queue, "
       "priority, tags, master, view_acl, modify_acl, max_attempts, container_runtime, "
       "file_systems, principal, keytab, as"},
      {"tasks: {w: }\nyarn: {container_runtime: moby}\n",
       "job.yaml:2:27: yarn.container_runtime: 'moby' is not what runs images; allowed: auto, "
       "docker, none"},
      {"tasks: {w: }\nyarn: {master: {gpus: 1}}\n",
       "job.yaml:2:17: yarn.master: 'gpus' is not a known key; allowed: memory, vcores, label"},
      {"tasks: {w: }\nyarn: {master: {vcores: 0}}\n",
       "job.yaml:2:25: yarn.master.vcores: '0' is not allowed; allowed: a whole number from 1 to "
       "4096"},
      {"tasks: {w: }\ncommand: x\non: yarn\nyarn: {master: {memory: 0}}\n",
       "job.yaml:4:25: yarn.master.memory: 0 is not allowed; allowed: 1 to 67108864 MiB"},
      {"tasks: {w: }\nyarn: {priority: -1}\n",
       "job.yaml:2:18: yarn.priority: '-1' is not allowed; allowed: a whole number from 0 to "
       "1000000"},
      {"tasks: {w: }\nyarn: {tags: a}\n",
       "job.yaml:2:14: yarn.tags: 'a' is not allowed; allowed: a list of texts"},
      {"tasks: {w: }\ncommand: x\non: yarn\nyarn: {tags: [a, 'b c']}\n",
       "job.yaml:4:14: yarn.tags: 'b c' is not a tag; allowed: ASCII without blanks and ',', 1 to "
       "100 characters"},
      {"tasks: {w: }\ncommand: x\non: yarn\nyarn: {queue: 'a b'}\n",
       "job.yaml:4:15: yarn.queue: 'a b' is not the name of a queue; allowed: a text without "
       "blanks, at most 1024 bytes, for example root.research"},
      {"tasks: {w: }\ncommand: x\non: yarn\ntimeouts: {hold: 0}\n",
       "job.yaml:4:18: timeouts.hold: '0 s' is not allowed; allowed: more than 0 s, at most 365 "
       "d"},
  };
  for (const auto& [file, message] : cases) EXPECT_EQ(places_error(file), message) << file;
}

TEST(Places, ErrorsOfFlagsBeginWithThem) {
  const std::string number = "; allowed: a whole number from ";
  const std::pair<Flags, std::string> cases[] = {
      {{.resources = {"a"}},
       "--resource: 'a': has no '='; it is written NAME=number, type:NAME=number or "
       "type[index]:NAME=number"},
      {{.resources = {"vcores=1"}},
       "--resource: 'vcores=1': 'vcores' has a key of its own: vcores"},
      {{.resources = {"a=x"}},
       "--resource: 'a=x': 'x' is not allowed" + number + "0 to 1125899906842624"},
      {{.resources = {"wroker:a=1"}},
       "--resource: 'wroker:a=1': unknown task type 'wroker'; did you mean 'worker'? this job has: "
       "worker"},
      {{.resources = {"worker[1]:a=1"}},
       "--resource: 'worker[1]:a=1': there is no worker:1; worker has 1 task, with index 0"},
      {{.fields = {{"label", {"ps:a"}}}},
       "--label: 'ps:a': unknown task type 'ps'; this job has: worker"},
      {{.fields = {{"label", {"worker[0]:a"}}}},
       "--label: 'worker[0]:a': cannot be given to one task, only to a type"},
      {{.fields = {{"label", {"*"}}}},
       "--label: tasks.worker.label: '*' is not a node label; allowed: a letter or digit, then at "
       "most 254 letters, digits, '_' or '-'; nothing for the nodes without one"},
      {{.fields = {{"one_per_node", {"ps"}}}},
       "--one-per-node: 'ps': unknown task type 'ps'; this job has: worker"},
      {{.fields = {{"one_per_node", {"worker:1"}}}},
       "--one-per-node: 'worker:1': 'worker:1' is not a task type; allowed: a letter, then at most "
       "39 letters, digits, '_' or '-'"},
      {{.job_fields = {{"yarn.priority", "high"}}},
       "--priority: 'high' is not allowed" + number + "0 to 1000000"},
      {{.job_lists = {{"yarn.tags", {"a,a"}}}}, "--tag: yarn.tags: 'a' is given twice"},
      {{.job_fields = {{"yarn.master.memory", "x"}}},
       "--master-memory: 'x' is not an amount of memory; allowed: a number with MiB "
       "(or "
       "m), GiB (g) or TiB (t), at most 64 TiB, for example 2 GiB; a bare number is in MiB"},
      {{.job_fields = {{"yarn.master.vcores", "0"}}},
       "--master-vcores: '0' is not allowed" + number + "1 to 4096"},
  };
  for (const auto& [flags, message] : cases) {
    Flags on_yarn = flags;
    on_yarn.job_fields["on"] = "yarn";
    EXPECT_EQ(places_error("tasks: {worker: }\ncommand: x\n", on_yarn), message);
  }
}

using Change = std::function<void(job::JobSpec&)>;
const std::pair<const char*, Change> kBadJobs[] = {
    {"tasks.worker.label", [](job::JobSpec& job) { job.tasks[0].label = "-a"; }},
    {"tasks.worker.label", [](job::JobSpec& job) { job.tasks[0].label = std::string(256, 'a'); }},
    {"tasks.worker.resources", [](job::JobSpec& job) { job.tasks[0].resources.others["1"] = 1; }},
    {"tasks.worker.resources.a",
     [](job::JobSpec& job) { job.tasks[0].resources.others["a"] = -1; }},
    {"tasks.worker.overrides.0.resources.a",
     [](job::JobSpec& job) {
       job.tasks[0].overrides[0].others["a"] = job::kMaxResourceAmount + 1;
     }},
    {"tasks.worker.resources",
     [](job::JobSpec& job) {
       for (std::size_t i = 0; i <= job::kMaxOtherResources; ++i) {
         job.tasks[0].resources.others[base::format("a{}", i)] = 1;
       }
     }},
    {"timeouts.hold", [](job::JobSpec& job) { job.timeouts.hold = std::chrono::milliseconds(0); }},
    {"yarn.queue", [](job::JobSpec& job) { yarn::edit_yarn(job).queue = "a\nb"; }},
    {"yarn.queue", [](job::JobSpec& job) { yarn::edit_yarn(job).queue = "\xff"; }},
    {"yarn.queue",
     [](job::JobSpec& job) {
       yarn::edit_yarn(job).queue = std::string(yarn::kMaxQueueBytes + 1, 'a');
     }},
    {"yarn.priority", [](job::JobSpec& job) { yarn::edit_yarn(job).priority = -1; }},
    {"yarn.tags", [](job::JobSpec& job) { yarn::edit_yarn(job).tags = {""}; }},
    {"yarn.tags", [](job::JobSpec& job) { yarn::edit_yarn(job).tags = {"a,b"}; }},
    {"yarn.tags", [](job::JobSpec& job) { yarn::edit_yarn(job).tags = {"\xc3\xbc"}; }},
    {"yarn.tags",
     [](job::JobSpec& job) {
       yarn::edit_yarn(job).tags = {std::string(yarn::kMaxTagBytes + 1, 'a')};
     }},
    {"yarn.tags",
     [](job::JobSpec& job) {
       for (std::size_t i = 0; i <= yarn::kMaxTags; ++i)
         yarn::edit_yarn(job).tags.push_back(std::to_string(i));
     }},
    {"yarn.master.memory",
     [](job::JobSpec& job) { yarn::edit_yarn(job).master.memory_mib = job::kMaxMemoryMib + 1; }},
    {"yarn.master.vcores", [](job::JobSpec& job) { yarn::edit_yarn(job).master.vcores = 0; }},
    {"yarn.master", [](job::JobSpec& job) { yarn::edit_yarn(job).master.gpus = 1; }},
    {"yarn.master", [](job::JobSpec& job) { yarn::edit_yarn(job).master.others["a"] = 1; }},
    {"yarn.master.label", [](job::JobSpec& job) { yarn::edit_yarn(job).master_label = "a b"; }},
    {"yarn.view_acl", [](job::JobSpec& job) { yarn::edit_yarn(job).view_acl = "a\tb"; }},
    {"yarn.modify_acl", [](job::JobSpec& job) { yarn::edit_yarn(job).modify_acl = "\xff"; }},
    {"yarn.file_systems",
     [](job::JobSpec& job) { yarn::edit_yarn(job).file_systems = {"preprod"}; }},
    {"yarn.principal", [](job::JobSpec& job) { yarn::edit_yarn(job).principal = "a b"; }},
    {"yarn.keytab", [](job::JobSpec& job) { yarn::edit_yarn(job).keytab = std::string(1, '\0'); }},
    {"yarn.as", [](job::JobSpec& job) { yarn::edit_yarn(job).as = "a\n"; }},
    // The user for which the job runs could read the keys of the user who submits it.
    {"yarn.as",
     [](job::JobSpec& job) { yarn::edit_yarn(job).as = "bob", yarn::edit_yarn(job).keytab = "k"; }},
    {"yarn.max_attempts", [](job::JobSpec& job) { yarn::edit_yarn(job).max_attempts = -1; }},
};

// Bytes go where only our own programs pass them on; others take texts.
TEST(Places, BytesThatAreNotUtf8AreRefusedWhereTheyCannotBeGiven) {
  const Flags words{.command = {"x", "\xff"}};
  Flags on_yarn = words;
  on_yarn.job_fields["on"] = "yarn";
  Flags in_image = words;
  in_image.job_fields["image"] = "a";
  Flags on_kubernetes = in_image;
  on_kubernetes.job_fields["on"] = "kubernetes";
  EXPECT_EQ(places_error("", words), "");
  EXPECT_EQ(places_error("", on_yarn), "");
  EXPECT_EQ(places_error("", in_image),
            "after --: command.1: '\xff' is not UTF-8, and engines of images take nothing else");
  EXPECT_EQ(places_error("", on_kubernetes),
            "after --: command.1: '\xff' is not UTF-8, and Kubernetes takes nothing else");
  job::JobSpec job = built_place("", {.job_fields = {{"on", "yarn"}}, .command = {"x"}});
  job.image = "a";
  job.tasks[0].environment["A"] = "\xfe";
  EXPECT_EQ(find_problem(job, places::rules())->path, "tasks.worker.env.A");
  job.tasks[0].image = "";
  EXPECT_FALSE(find_problem(job, places::rules()).has_value());
  job.files = {"hdfs://nn/\xff"};
  EXPECT_EQ(find_problem(job, places::rules())->path, "files.0");
}

// As for all of a spec: the rules hold for one that is built by hand too.
TEST(Places, FindEachProblemWithItsPath) {
  for (const auto& [path, change] : kBadJobs) {
    job::JobSpec job = built_place("", {.job_fields = {{"on", "yarn"}}, .command = {"x"}});
    ASSERT_FALSE(find_problem(job, places::rules()).has_value());
    change(job);
    const auto problem = find_problem(job, places::rules());
    ASSERT_TRUE(problem.has_value()) << path;
    EXPECT_EQ(problem->path, path) << problem->text;
  }
}

TEST(Places, WhatSparkDecidesIsRefusedWithItsSetting) {
  const auto told = [](const std::string& task, const std::string& more) {
    return places_error(base::format(
        "tasks:\n  worker: {{instances: 2{}}}\ncommand: x\non: spark\n{}", task, more));
  };
  EXPECT_EQ(told("", ""), "");
  EXPECT_EQ(told("", "restarts: {scope: none}"), "");
  const std::pair<std::string, std::string> of_tasks[] = {
      {", gpus: 1", "worker.gpus: '1' is not allowed with `on: spark`; Spark assigns GPUs"},
      {", overrides: {1: {gpus: 2}}", "overrides.1.gpus: '2' is not allowed"},
      {", image: a/b", "worker.image: 'a/b' is not allowed"},
      {", archives: {a: b.zip}", "worker.archives.a: 'b.zip' is not allowed"},
      {", label: fast", "worker.label: 'fast' is not allowed"},
      {", one_per_node: true", "worker.one_per_node: 'true' is not allowed"},
      {", resources: {fpga: 1}", "worker.resources.fpga: '1' is not allowed"},
      {", spares: 1", "worker.spares: '1' is not allowed"},
      {", min_instances: 1", "worker.min_instances: '1' is not allowed"}};
  for (const auto& [task, sentence] : of_tasks) {
    EXPECT_THAT(told(task, ""), testing::HasSubstr(sentence));
  }
  const std::pair<std::string, std::string> of_jobs[] = {
      {"files: [a]", "files: 'a' is not allowed with `on: spark`; Spark ships files"},
      {"archives: {a: b.zip}", "archives.a: 'b.zip' is not allowed"},
      {"image: a/b", "image: 'a/b' is not allowed"},
      {"hosts: [a]", "hosts: 'a' is not allowed"},
      {"restarts: 3", "restarts.max: '3' is not allowed with `on: spark`; nobody restarts a task"}};
  for (const auto& [job, sentence] : of_jobs) {
    EXPECT_THAT(told("", job), testing::HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace gangrun::jobfile
