// The sections of the places that there are, in files and plans.
#include <gmock/gmock.h>

#include "base/json.h"
#include "jobfile/build.h"
#include "jobfile/plan_json.h"
#include "jobfile/spec_yaml.h"
#include "places/places.h"
#include "ssh/ssh_options.h"

namespace gangrun::jobfile {
namespace {

constexpr const char* kSectionFiles[] = {
    R"(tasks: {worker: }
command: x
on: yarn
yarn: {queue: root.a, priority: 0, tags: [n, "m#"], master: {memory: 1 GiB, vcores: 2, label: ""}, view_acl: "*", modify_acl: "a,b c", max_attempts: 3, container_runtime: docker, file_systems: ["hdfs://b:8020"], principal: a@R, as: bob}
)",
    R"(tasks: {worker: }
command: x
image: a
on: k8s
kubernetes: {kubeconfig: "a b", context: c, insecure: true, namespace: n, service_account: s, labels: {a: "1"}, annotations: {b: "x: y"}, node_selector: {c: ""}, tolerations: [{operator: Exists}], volumes: [{name: v, emptyDir: {}}], volume_mounts: [{name: v, mountPath: /v, readOnly: false}], image_pull_secrets: [r], image_pull_policy: Never, priority_class: p, queue: q, gang_scheduling: volcano, pod: {}, vcores_limit: 2, helper_image: h, agents: none, agent_image: i}
)",
    "tasks: {worker: {image: a}}\ncommand: x\non: kubernetes\n",
    "tasks: {worker: }\ncommand: x\non: yarn\n",
    "tasks: {worker: }\ncommand: x\non: yarn\nyarn: {master: {label: a}}\nkubernetes: {queue: b}\n",
    "tasks: {worker: }\ncommand: x\non: ssh\nssh: {config: c, hostfile: h, folder: /f}\n",
};

TEST(SectionsOfPlaces, AreReadBackFromAPlan) {
  const SectionList& sections = places::rules().sections();
  for (const char* file : kSectionFiles) {
    const auto draft = parse_spec(file, "job.yaml", sections);
    ASSERT_TRUE(draft.ok()) << draft.error().message;
    const auto spec = build(*draft, {}, {.places = &places::rules()});
    ASSERT_TRUE(spec.ok()) << spec.error().message;
    for (const job::PlanForm form : {job::PlanForm::kForPeople, job::PlanForm::kForPrograms}) {
      const base::Json plan = to_json(*spec, form);
      EXPECT_EQ(*job_spec_from_json(plan, sections), *spec);
      EXPECT_EQ(*build(*parse_spec(base::dump_json(plan), "plan.json", sections), {}, {}), *spec);
      // A reader that knows none of them loses none.
      const auto carried = job_spec_from_json(plan);
      ASSERT_TRUE(carried.ok()) << carried.error().message;
      EXPECT_EQ(*job_spec_from_json(to_json(*carried, form), sections), *spec);
    }
  }
}

TEST(SectionsOfPlaces, AJobHasThatOfItsPlaceWithItsDefaults) {
  const auto spec = build(std::nullopt, {.job_fields = {{"on", "yarn"}}, .command = {"x"}},
                          {.places = &places::rules()});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(
      base::dump_json(to_json(*spec).at("yarn")),
      R"({"master":{"memory":"256 MiB","vcores":1},"max_attempts":0,"container_runtime":"auto"})");
  EXPECT_FALSE(to_json(*spec).contains("kubernetes"));
}

// A section that was only read is one that was never there.
TEST(SectionsOfPlaces, ADefaultSectionEqualsNone) {
  job::JobSpec job;
  EXPECT_EQ(ssh::edit_ssh(job).folder, "");
  EXPECT_EQ(job, job::JobSpec{});
  EXPECT_FALSE(to_json(job).contains("ssh"));
  ssh::edit_ssh(job).folder = "/f";
  EXPECT_NE(job, job::JobSpec{});
  EXPECT_NE(job::JobSpec{}, job);
  job::JobSpec copy = job;
  EXPECT_EQ(copy, job);
  ssh::edit_ssh(copy).folder = "/g";
  EXPECT_EQ(ssh::ssh_of(job).folder, "/f");
}

}  // namespace
}  // namespace gangrun::jobfile
