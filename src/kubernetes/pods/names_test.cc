#include "kubernetes/pods/names.h"

#include <gmock/gmock.h>

#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::HasSubstr;

std::string message_of(const ManifestInput& input) {
  const auto status = check_names(input);
  return status.ok() ? "" : status.error().message;
}

TEST(Names, ComeFromTheJobsId) {
  const ManifestInput input = test::wine_job();
  EXPECT_EQ(pod_name(input, {"worker", 1}), "wine-20260131-120000-3fa1-worker-1");
  EXPECT_EQ(owner_name(input), "wine-20260131-120000-3fa1-owner");
  EXPECT_EQ(address_of(input, {"worker", 1}),
            (job::Address{"worker-1.wine-20260131-120000-3fa1.lab.svc", 2222}));
}

TEST(Names, AreOfDnsWhateverTheJobIsCalled) {
  ManifestInput input = test::wine_job();
  input.job_id = "Wine_2.x-1";
  EXPECT_EQ(job_name(input), "wine-2-x-1");
  EXPECT_EQ(pod_name(input, {"My_Worker", 0}), "wine-2-x-1-my-worker-0");
  input.job_id = "7wines-1";
  EXPECT_EQ(job_name(input), "job-7wines-1");
}

TEST(Names, MayBeOthers) {
  ManifestInput input = test::wine_job();
  input.names.pods = {{{"worker", 0}, "worker0"}, {{"worker", 1}, "worker1"}};
  input.names.has_service_per_task = true;
  input.names.first_port = 1999;
  EXPECT_EQ(message_of(input), "");
  EXPECT_EQ(address_of(input, {"worker", 1}), (job::Address{"worker1", 1999}));
  input.names.pods[{"worker", 1}] = "Worker1";
  EXPECT_THAT(message_of(input), HasSubstr("cannot be the name of a pod"));
  input.names.pods[{"worker", 1}] = "worker0";
  EXPECT_EQ(message_of(input), "tasks: worker:0 and worker:1 would have pods of one name, worker0");
}

// Jobs that gangrun itself had named after a long command could not run there.
TEST(Names, HaveOfALongIdWhatTellsJobsApart) {
  ManifestInput input = test::wine_job();
  for (const std::size_t length : {30U, 31U, 32U, 42U}) {
    input.job_id = std::string(length, 'w') + "-20260131-120000-3fa1";
    EXPECT_EQ(message_of(input), "") << length;
    const std::string name = job_name(input);
    EXPECT_LE(name.size(), 52U) << length;
    EXPECT_TRUE(name.starts_with("wwwww")) << name;
    EXPECT_TRUE(name.ends_with("w-20260131-120000-3fa1")) << name;
    EXPECT_TRUE(is_dns_label(config_map_name(input, 9999)));
  }
  input.job_id = "a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-20260131-120000-3fa1";
  EXPECT_TRUE(is_dns_label(job_name(input))) << job_name(input);
  // The pods' names stay what they are where they fit.
  input.job_id = std::string(10, 'w') + "-20260131-120000-3fa1";
  EXPECT_EQ(pod_name(input, {"worker", 1}), input.job_id + "-worker-1");
}

TEST(Names, ThatAreTooLongAreToldByHowMuch) {
  ManifestInput input = test::wine_job();
  input.spec.tasks = {test::tasks_of(std::string(40, 't'), 1)};
  EXPECT_THAT(message_of(input),
              HasSubstr("tasks." + std::string(40, 't') +
                        ": is too long for Kubernetes by 2: the pod w-20260131"));
  input.spec.tasks = {test::tasks_of(std::string(38, 't'), 1)};
  EXPECT_EQ(message_of(input), "");
  const job::TaskId own{std::string(38, 't'), 0};
  input.names.pods = {{own, std::string(64, 'p')}};
  EXPECT_THAT(message_of(input), HasSubstr("name: is too long for Kubernetes by 1: the pod ppp"));
}

TEST(Names, OfTwoTypesMayNotBeTheSame) {
  ManifestInput input = test::wine_job();
  input.spec.tasks = {test::tasks_of("a_b", 1), test::tasks_of("a-b", 1)};
  EXPECT_THAT(message_of(input), HasSubstr("a_b:0 and a-b:0 would have pods of one name"));
}

TEST(Names, HavePortsThatExist) {
  ManifestInput input = test::wine_job();
  input.names.first_port = 65535;
  EXPECT_EQ(message_of(input), "");
  input.spec.tasks.front().ports.count = 2;
  EXPECT_EQ(message_of(input), "tasks.worker.ports: 2 ports from 65535 on do not exist");
}

TEST(Labels, AreThoseOfKubernetes) {
  for (const char* key : {"app", "a.b_c-d", "example.com/app", "A1"})
    EXPECT_TRUE(is_label_key(key));
  for (const char* key : {"", "-a", "a-", "a b", "Example.com/a", "a/b/c", "/a", "a/"}) {
    EXPECT_FALSE(is_label_key(key)) << key;
  }
  EXPECT_TRUE(is_label_value(""));
  EXPECT_TRUE(is_label_value(std::string(63, 'a')));
  EXPECT_FALSE(is_label_value(std::string(64, 'a')));
  EXPECT_FALSE(is_label_value("a b"));
}

TEST(Labels, OfTheUserAreCheckedByField) {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).labels = {{"team", "data science"}};
  EXPECT_THAT(message_of(input),
              HasSubstr("kubernetes.labels.team: \"data science\" is not the value of a label"));
  edit_kubernetes(input.spec).labels = {{"gangrun/job", "mine"}};
  EXPECT_THAT(message_of(input), HasSubstr("gangrun/job is set by gangrun"));
  edit_kubernetes(input.spec).labels = {};
  edit_kubernetes(input.spec).annotations = {{"what for", "any text: here"}};
  EXPECT_THAT(message_of(input), HasSubstr("kubernetes.annotations.what for: "));
  edit_kubernetes(input.spec).annotations = {};
  edit_kubernetes(input.spec).node_selector = {{"disk", "s s d"}};
  EXPECT_THAT(message_of(input), HasSubstr("kubernetes.node_selector.disk: "));
}

TEST(Metadata, HasJobOwnerAndTheUsersLabels) {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).labels = {{"training_attempt", "tf-spawner"},
                                        {"kueue.x-k8s.io/queue-name", "q"}};
  const Owner owner = test::wine_owner();
  const Json metadata = metadata_of(input, "x", &owner);
  EXPECT_EQ(metadata["labels"], (Json{{"gangrun/job", input.job_id},
                                      {"app.kubernetes.io/managed-by", "gangrun"},
                                      {"training_attempt", "tf-spawner"}}));
  EXPECT_EQ(metadata["namespace"], "lab");
  const Json& reference = metadata["ownerReferences"].at(0);
  EXPECT_EQ(reference["kind"], "Job");
  EXPECT_EQ(reference["uid"], "u-1");
  EXPECT_EQ(reference["blockOwnerDeletion"], false);
  EXPECT_FALSE(metadata_of(input, "x", nullptr).contains("ownerReferences"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
