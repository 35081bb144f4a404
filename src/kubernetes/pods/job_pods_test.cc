#include "kubernetes/pods/job_pods.h"

#include <gtest/gtest.h>

#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/agent_pods.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/test_cluster_internal.h"

namespace gangrun::kubernetes::pods {
namespace {

const std::string kRelayPod = "wine-20260131-120000-3fa1-relay";

Manifests manifests_with_agents() {
  ManifestInput input = test::wine_job();
  input.agents = AgentPods{.source = by_config_maps(test::small_parts())};
  return Manifests::make(std::move(input)).value();
}

// `why` went on telling that it was being started, and after `timeouts.allocation` it was replaced.
TEST(JobPods, ARelayThatRunsIsNotWaitedFor) {
  net::EventLoop loop;
  base::LogRecorder log;
  TestCluster cluster{loop};
  const Manifests manifests = manifests_with_agents();
  PodBook::Options options = book_options(manifests, [] { return 0.0; });
  options.names[kRelayTask] = manifests.pod_name(kRelayTask);
  options.has_agents = true;
  JobPods pods(loop, log, cluster, manifests, std::move(options),
               {.pod = [&](const job::TaskId&, const PodRun& run,
                           const Owner& owner) { return manifests.relay(run, owner); },
                .on_event = [](const PodEvent&) {}});
  const auto reason = [&] { return pods.book().waiting_for(loop.now()); };
  pods.begin();
  pods.tell_book(&PodBook::release_others);
  pods.tell_book(&PodBook::start, kRelayTask, 1);
  pods.tell_book(&PodBook::run, kRelayTask, PodRun{.attempt = 1, .environment = {}});
  ASSERT_TRUE(loop.run_until([&] { return cluster.has_pod(kRelayPod); }, base::soon()));
  cluster.place(kRelayPod, "n1");
  EXPECT_EQ(reason(), "relay pod:0: it is being started on n1");
  cluster.run(kRelayPod);
  EXPECT_EQ(reason(), "");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
