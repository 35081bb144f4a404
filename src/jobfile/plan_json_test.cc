#include "jobfile/plan_json.h"

#include <gmock/gmock.h>

#include "jobfile/build.h"
#include "jobfile/spec_yaml.h"

namespace gangrun::jobfile {
namespace {

constexpr const char* kFiles[] = {
    "tasks: {worker: }\ncommand: x\n",
    R"(name: wine
tasks:
  chief:     {memory: 2 GiB, vcores: 0}
  worker:    {instances: 2, min_instances: 1, spares: 3, memory: 1537, gpus: 1, processes: 3, ports: {n: 2, hold: until-exec}, env: {A: "1\n\t\"", B: ''}}
  ps:        {instances: 3, memory: 1 TiB, overrides: {0: {memory: 2 GiB}, 2: {vcores: 7, gpus: 0}}}
  evaluator: {grace: 1500 ms, command: [python, 'it''s', "", "\x7f\x01ü\u2028"]}
  tensorboard: {logdir: out/my model, grace: 5, image: ""}
  other: {policy: sidecar, ports: {names: [http, grpc-web]}, command: "exec a # b: c"}
command: |
  set -e
  python train.py
env: {OMP: 1e3, YES: yes, NULLY: "null", TILDE: "~"}
framework: [jax, pytorch]
success: chief
restarts: {max: 3, scope: gang}
timeouts: {allocation: 90 s, roll_call: 1 h, job: 2 d, stop: 1 ms, shrink: 2 ms, master_lost: 0}
interface: fd00::/8
files: [train.py, "- odd", "a: b", "#c"]
image: a/b:c
mounts: [/a b, /c:ro]
zookeeper:
containment: pid_namespace
)",
    R"(tasks: {tensorboard: {logdir: x, expose: host}, worker: {image: d}}
command: x
zookeeper: {hosts: [a], root: /r, readable_by: job}
)",
    "tasks: {evaluator: {}}\ncommand: [a]\nframework: none\nrestarts: {scope: none}\n",
    R"(tasks:
  worker: {instances: 3, label: gpu_v100, one_per_node: true, archives: {env: b.tgz}, resources: {yarn.io/fpga: 2, disk: 0}, overrides: {2: {resources: {disk: 7}}}}
  ps: {label: "", one_per_node: false, resources: }
command: x
timeouts: {hold: 90}
files: ["hdfs://nn:8020/a b#c", x, "y#z/y.py"]
archives: {env: "a b.tar.gz", _d.1: "hdfs:///x.zip"}
on: yarn
)",
    R"(tasks: {worker: {pod: {spec: {nodeName: n, x: [1, "1", 1.5, null, {}]}}, outputs: []}, ps: {outputs: [a/, b c]}}
command: x
image: a
outputs: [model/]
on: k8s
)",
    "tasks: {worker: {image: a}}\ncommand: x\non: kubernetes\n",
    "tasks: {worker: }\ncommand: x\non: yarn\n",
};

TEST(PlanJson, ReadsBackAsTheSameJobAlsoAsAJobFile) {
  for (const char* file : kFiles) {
    auto draft = parse_spec(file, "job.yaml");
    ASSERT_TRUE(draft.ok()) << draft.error().message;
    const auto spec = build(*draft, {}, {});
    ASSERT_TRUE(spec.ok()) << spec.error().message;
    const base::Json json = to_json(*spec);
    const auto back = job_spec_from_json(json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, *spec);
    const base::Json travelling = to_json(*spec, job::PlanForm::kForPrograms);
    const auto arrived = job_spec_from_json(travelling);
    ASSERT_TRUE(arrived.ok()) << arrived.error().message;
    EXPECT_EQ(*arrived, *spec);
    for (const std::string& text :
         {base::dump_json(json), base::dump_json_indented(json), base::dump_json(travelling)}) {
      const auto reread = parse_spec(text, "plan.json");
      ASSERT_TRUE(reread.ok()) << reread.error().message << "\n" << text;
      const auto rebuilt = build(*reread, {}, {});
      ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
      EXPECT_EQ(*rebuilt, *spec) << text;
    }
  }
}

// Paths, words and values are bytes.
TEST(PlanJson, KeepsBytesThatAreNotUtf8) {
  Flags flags{.command = {"./a\xff", "\xc3("}};
  flags.env = {"A=\xfe"};
  flags.job_lists["files"] = {"/data/\xff"};
  flags.tensorboard = "logs\xff";
  const auto spec = build({}, flags, {});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const std::string text = base::dump_json_indented(to_json(*spec));
  const auto json = base::parse_json(text, job::kMaxSpecBytes);
  ASSERT_TRUE(json.ok()) << json.error().message;
  const auto back = job_spec_from_json(*json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, *spec);
  const auto draft = parse_spec(text, "job.json");
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(*build(*draft, {}, {}), *spec);
}

TEST(PlanJson, WritesEveryDefaultOutInAFixedOrder) {
  job::JobSpec spec;
  spec.name = "train";
  spec.success = "all";
  spec.command.words = {"python", "train.py"};
  spec.tasks.resize(2);
  spec.tasks[0].type = "worker";
  spec.tasks[0].resources.memory_mib = 2048;
  spec.tasks[1].type = "evaluator";
  spec.tasks[1].policy = job::Policy::kObserver;
  spec.tasks[1].grace = kDefaultObserverGrace;
  EXPECT_EQ(base::dump_json_indented(to_json(spec)), R"({
  "name": "train",
  "tasks": {
    "worker": {
      "instances": 1,
      "processes": 1,
      "ports": {
        "n": 1,
        "hold": "until-bind"
      },
      "memory": "2 GiB",
      "vcores": 1,
      "gpus": 0,
      "policy": "tracked"
    },
    "evaluator": {
      "instances": 1,
      "processes": 1,
      "ports": {
        "n": 1,
        "hold": "until-bind"
      },
      "memory": "0 MiB",
      "vcores": 1,
      "gpus": 0,
      "policy": "observer",
      "grace": "2 min"
    }
  },
  "command": [
    "python",
    "train.py"
  ],
  "success": "all",
  "restarts": {
    "max": 0,
    "scope": "task",
    "pause": "1 s",
    "max_pause": "1 min"
  },
  "timeouts": {
    "allocation": "10 min",
    "hold": "1 min",
    "roll_call": "2 min",
    "job": "0 s",
    "stop": "30 s",
    "shrink": "10 s"
  },
  "on": "local",
  "containment": "auto",
  "stop_signal": "TERM",
  "stop_signal_to": "process",
  "notice_signal": "USR1"
})");
}

TEST(PlanJson, WhatTravelsHasNumbersWherePeopleGetUnits) {
  const auto draft = parse_spec(
      "tasks: {w: {memory: 2g, overrides: {0: {memory: 3g}}}}\ncommand: x\n"
      "timeouts: {job: 2 h, stop: 1500 ms}\nrestarts: {pause: 2 s}\n",
      "job.yaml");
  const auto spec = build(*draft, {}, {});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const base::Json json = to_json(*spec, job::PlanForm::kForPrograms);
  const base::Json& task = json.at("tasks").at("w");
  EXPECT_EQ(task.at("memory"), 2048);
  EXPECT_EQ(task.at("overrides").at("0").at("memory"), 3072);
  EXPECT_EQ(json.at("timeouts").at("job"), 7200);
  EXPECT_EQ(json.at("timeouts").at("stop"), 1.5);
  EXPECT_EQ(json.at("restarts").at("pause"), 2);
}

// The section of a place that this program does not know.
TEST(PlanJson, CarriesASectionThatItDoesNotKnow) {
  const base::Json json = base::Json::parse(
      R"({"tasks": {"w": {}}, "command": "x", "on": "moon", "moon": {"crater": 1.5, "dust": ["1", 1, null, {}]}})");
  const auto spec = job_spec_from_json(json);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  for (const job::PlanForm form : {job::PlanForm::kForPeople, job::PlanForm::kForPrograms}) {
    EXPECT_EQ(to_json(*spec, form).at("moon"), json.at("moon"));
    EXPECT_EQ(*job_spec_from_json(to_json(*spec, form)), *spec);
  }
  base::Json other = json;
  other["moon"]["crater"] = 2;
  EXPECT_NE(*job_spec_from_json(other), *spec);
  // A field is not a section, and in a file of a person's an unknown key is a mistake.
  other["moon"] = "full";
  EXPECT_THAT(job_spec_from_json(other).error().message,
              testing::HasSubstr("'moon' is not a known key"));
  EXPECT_THAT(parse_spec(base::dump_json(json), "job.json").error().message,
              testing::HasSubstr("'moon' is not a known key"));
}

TEST(PlanJson, RefusesAnInvalidJob) {
  base::Json json = base::Json::parse(R"({"tasks": {"ps": {}}, "command": "x"})");
  const auto spec = job_spec_from_json(json);
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(spec.error().message,
              testing::StartsWith("tasks: nothing decides how this job ends"));
  EXPECT_FALSE(job_spec_from_json(base::Json::parse("[]")).ok());
  EXPECT_FALSE(job_spec_from_json(base::Json()).ok());
}

}  // namespace
}  // namespace gangrun::jobfile
