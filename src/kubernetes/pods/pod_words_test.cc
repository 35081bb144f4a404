#include "kubernetes/pods/pod_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::kubernetes::pods {
namespace {

using State = ContainerFacts::State;

PodFacts on_a_node() {
  PodFacts facts;
  facts.name = "j-worker-3";
  facts.node = "node-1";
  facts.phase = "Pending";
  facts.task.name = "task";
  facts.task.image = "tf:9";
  return facts;
}

PodFacts waiting(const std::string& reason, const std::string& message) {
  PodFacts facts = on_a_node();
  facts.task.state = State::kWaiting;
  facts.task.reason = reason;
  facts.task.message = message;
  return facts;
}

PodFacts ended(int code, const std::string& reason = "Error") {
  PodFacts facts = on_a_node();
  facts.phase = "Failed";
  facts.task.state = State::kTerminated;
  facts.task.exit_code = code;
  facts.task.reason = reason;
  facts.task.has_run = true;
  return facts;
}

TEST(PendingWords, WhatIsMissingOfNodes) {
  PodFacts facts;
  EXPECT_EQ(pending_words(facts, ""), "it has no node yet");
  facts.scheduler = "default-scheduler";
  EXPECT_EQ(pending_words(facts, ""), "it has no node yet");
  facts.scheduler = "nobody-s";
  EXPECT_EQ(pending_words(facts, ""),
            "it has no node, as the scheduler that its schedulerName asks for, \"nobody-s\", has "
            "not looked at it; perhaps the cluster has none of this name");
  facts.is_seen_by_scheduler = true;
  EXPECT_EQ(pending_words(facts, ""), "it has no node yet");
  facts.unschedulable = "0/2 nodes are available: 2 Insufficient cpu.";
  EXPECT_EQ(pending_words(facts, "x"),
            "the scheduler finds no node: \"" + facts.unschedulable + "\"");
}

TEST(PendingWords, WhoseGateIsClosed) {
  PodFacts facts;
  facts.unschedulable = "Scheduling is blocked due to non-empty scheduling gates";
  facts.gate = "kueue.x-k8s.io/admission";
  EXPECT_EQ(pending_words(facts, ""), "Kueue has not admitted it");
  EXPECT_EQ(gate_words(facts, "it is next in queue ml"),
            "Kueue has not admitted it: it is next in queue ml");
  facts.gate = "team/later";
  EXPECT_EQ(pending_words(facts, ""), "its gate \"team/later\" is closed");
}

TEST(LossOf, WhatKueueTakesForAnother) {
  PodFacts facts = on_a_node();
  facts.is_deleting = facts.is_taken_by_kueue = true;
  facts.disruption = "WorkloadEvictedDueToPreempted";
  facts.disruption_message = "Preempted to accommodate a workload";
  ASSERT_TRUE(loss_of(facts));
  EXPECT_EQ(loss_of(facts)->reason, job::Reason::kPreempted);
  EXPECT_EQ(agent_loss(facts).detail,
            "pod j-worker-3, by Kueue: \"Preempted to accommodate a workload\"");
  facts.disruption = "WorkloadEvicted";
  EXPECT_EQ(loss_of(facts)->reason, job::Reason::kEvicted);
}

TEST(PendingWords, WhatItsNodeCannotDo) {
  EXPECT_EQ(pending_words(waiting("ImagePullBackOff", "Back-off pulling image \"tf:9\""), ""),
            "its image tf:9 cannot be pulled (ImagePullBackOff): \"Back-off pulling image "
            "'tf:9'\"");
  EXPECT_EQ(pending_words(waiting("CreateContainerConfigError", "secret \"s\" not found"), ""),
            "its container cannot be created (CreateContainerConfigError): \"secret 's' not "
            "found\"");
  EXPECT_EQ(pending_words(waiting("ContainerCreating", ""), ""), "it is being started on node-1");
  EXPECT_EQ(pending_words(waiting("ContainerCreating", ""), "MountVolume.SetUp failed"),
            "it is being started on node-1: \"MountVolume.SetUp failed\"");
}

TEST(PendingWords, WhichInitContainerFails) {
  PodFacts facts = waiting("PodInitializing", "");
  ContainerFacts init;
  init.name = "fetch";
  init.state = State::kWaiting;
  init.reason = "CrashLoopBackOff";
  init.message = "back-off 10s restarting";
  facts.init = {init};
  EXPECT_EQ(pending_words(facts, ""),
            "its init container fetch: container keeps failing (CrashLoopBackOff): \"back-off 10s "
            "restarting\"");
  EXPECT_EQ(start_trouble(facts), StartTrouble::kImage);
  EXPECT_EQ(start_reason(facts), job::Reason::kContainerCreate);
  facts.init[0].state = State::kTerminated;
  facts.init[0].exit_code = 3;
  facts.init[0].message.clear();
  EXPECT_EQ(pending_words(facts, ""), "its init container fetch exited with status 3");
  EXPECT_EQ(to_words(exit_report(facts).why),
            "could not be started: its init container fetch exited with status 3");
  EXPECT_EQ(exit_report(facts).why.reason, job::Reason::kContainerCreate);
}

TEST(StartReason, IsTheImageTheContainerOrUnknown) {
  for (const char* reason : {"ErrImagePull", "ImagePullBackOff", "InvalidImageName",
                             "ErrImageNeverPull", "RegistryUnavailable"}) {
    EXPECT_EQ(start_reason(waiting(reason, "")), job::Reason::kImagePull) << reason;
  }
  for (const char* reason :
       {"CreateContainerConfigError", "RunContainerError", "CrashLoopBackOff"}) {
    EXPECT_EQ(start_reason(waiting(reason, "")), job::Reason::kContainerCreate) << reason;
  }
  EXPECT_EQ(start_reason(waiting("ContainerCreating", "")), job::Reason::kCouldNotStart);
  PodFacts facts = waiting("PodInitializing", "");
  facts.init = {waiting("ErrImagePull", "").task};
  EXPECT_EQ(start_reason(facts), job::Reason::kImagePull);
}

TEST(StartTrouble, HowLastingItIs) {
  EXPECT_EQ(start_trouble(waiting("ContainerCreating", "")), StartTrouble::kNone);
  EXPECT_EQ(start_trouble(waiting("ErrImagePull", "")), StartTrouble::kImage);
  EXPECT_EQ(start_trouble(waiting("CreateContainerConfigError", "")), StartTrouble::kConfig);
  EXPECT_EQ(start_trouble(waiting("InvalidImageName", "")), StartTrouble::kFinal);
  EXPECT_EQ(start_trouble(ended(1)), StartTrouble::kNone);
}

TEST(ExitReport, StatusesAndSignals) {
  const job::ExitReport good = exit_report(ended(0, "Completed"));
  EXPECT_TRUE(good.success);
  const job::ExitReport failed = exit_report(ended(3));
  EXPECT_FALSE(failed.success);
  EXPECT_EQ(failed.why.code, 3);
  EXPECT_EQ(failed.why.reason, job::Reason::kExitStatus);
  EXPECT_EQ(to_words(failed.why), "exited with status 3");
  const job::ExitReport killed = exit_report(ended(139));
  EXPECT_EQ(killed.why.signal, 11);
  EXPECT_EQ(killed.why.reason, job::Reason::kSignal);
  EXPECT_EQ(killed.why.code, 0);
  EXPECT_EQ(to_words(killed.why), "was killed by signal 11 (segmentation fault)");
  EXPECT_EQ(to_words(exit_report(ended(255)).why), "exited with status 255");
}

TEST(ExitReport, OutOfMemory) {
  const job::ExitReport report = exit_report(ended(137, "OOMKilled"));
  EXPECT_EQ(report.why.reason, job::Reason::kOutOfMemory);
  EXPECT_EQ(to_words(report.why), "was killed by signal 9 (out of memory)");
  EXPECT_EQ(to_words(exit_report(ended(1, "OOMKilled")).why),
            "exited with status 1 (out of memory)");
}

TEST(ExitReport, WhatNeverRan) {
  PodFacts facts = ended(128, "StartError");
  facts.task.message = "exec: \"pythn\": executable file not found in $PATH";
  const job::ExitReport report = exit_report(facts);
  EXPECT_EQ(report.why.reason, job::Reason::kCouldNotStart);
  EXPECT_EQ(to_words(report.why),
            "could not be started: \"exec: 'pythn': executable file not found in $PATH\"");
}

TEST(PodLoss, WhoTookIt) {
  PodFacts facts = ended(137);
  EXPECT_FALSE(loss_of(facts).has_value());
  facts.reason = "Evicted";
  facts.message = "The node was low on resource: memory.";
  EXPECT_EQ(to_words(*loss_of(facts)),
            "was evicted on node-1: \"The node was low on resource: memory.\"");
  EXPECT_EQ(loss_of(facts)->reason, job::Reason::kEvicted);
  facts = ended(143);
  facts.disruption = "PreemptionByScheduler";
  facts.disruption_message = "preempting to accommodate a higher priority pod";
  EXPECT_EQ(to_words(*loss_of(facts)),
            "was preempted on node-1: \"preempting to accommodate a higher priority pod\"");
  EXPECT_EQ(loss_of(facts)->reason, job::Reason::kPreempted);
  facts.disruption = "DeletionByTaintManager";
  facts.disruption_message.clear();
  EXPECT_EQ(to_words(*loss_of(facts)), "was lost with its node node-1");
  EXPECT_EQ(loss_of(facts)->reason, job::Reason::kLostNode);
  facts.disruption = "EvictionByEvictionAPI";
  EXPECT_EQ(to_words(*loss_of(facts)), "was evicted on node-1");
}

TEST(AgentLoss, NamesThePodItsNodeAndWhoTookIt) {
  PodFacts facts = ended(143);
  facts.is_deleting = true;
  EXPECT_EQ(to_words(agent_loss(facts)),
            "lost its container on node-1: pod j-worker-3: somebody deleted it");
  EXPECT_EQ(agent_loss(facts).reason, job::Reason::kContainerLost);
  facts.disruption = "EvictionByEvictionAPI";
  facts.disruption_message = "Eviction API: evicting";
  EXPECT_EQ(to_words(agent_loss(facts)),
            "was evicted on node-1: pod j-worker-3, by the eviction API: \"Eviction API: "
            "evicting\"");
  facts.disruption = "PreemptionByScheduler";
  facts.disruption_message = "preempting to accommodate a higher priority pod";
  EXPECT_EQ(to_words(agent_loss(facts)),
            "was preempted on node-1: pod j-worker-3, by the scheduler: \"preempting to "
            "accommodate a higher priority pod\"");
  facts.disruption = "DeletionByTaintManager";
  facts.disruption_message.clear();
  EXPECT_EQ(to_words(agent_loss(facts)),
            "was lost with its node node-1: pod j-worker-3, by the taint manager");
  EXPECT_EQ(agent_loss(facts).reason, job::Reason::kLostNode);
}

TEST(AgentLoss, IsSureOfAPodThatIsDeletedOrThatItsNodeEnds) {
  PodFacts facts = on_a_node();
  EXPECT_FALSE(is_being_taken(facts));
  facts.disruption = "PreemptionByScheduler";
  EXPECT_FALSE(is_being_taken(facts));
  facts.is_deleting = true;
  EXPECT_TRUE(is_being_taken(facts));
  facts.is_deleting = false;
  facts.disruption = "TerminationByKubelet";
  EXPECT_TRUE(is_being_taken(facts));
}

// These are the user's own limits.
TEST(PodLoss, NeitherALimitOfMemoryNorOneOfTimeIsOne) {
  EXPECT_FALSE(loss_of(ended(137, "OOMKilled")).has_value());
  const job::ExitReport killed = exit_report(ended(137, "OOMKilled"));
  EXPECT_EQ(agent_end(killed.why, ended(137, "OOMKilled")).reason, job::Reason::kOutOfMemory);
  PodFacts late = ended(143);
  late.reason = "DeadlineExceeded";
  late.message = "Pod was active on the node longer than the specified deadline";
  EXPECT_FALSE(loss_of(late).has_value());
  const job::Why why = agent_end(exit_report(late).why, late);
  EXPECT_EQ(to_words(why),
            "lost its agent, which was killed by signal 15 (termination request): its pod's "
            "deadline had passed");
  EXPECT_TRUE(job::is_own_fault(why.reason));
}

// "exec format error" tells nobody that the node is of another kind.
TEST(PodReport, AnAgentThatItsNodeCannotExecuteSaysSo) {
  PodFacts facts = ended(1);
  facts.task.message = "exec /gangrun/agent/loader: exec format error";
  const job::Why why = agent_end(exit_report(facts).why, facts);
  EXPECT_EQ(why.reason, job::Reason::kAgentEnded);
  EXPECT_THAT(
      why.detail,
      testing::AllOf(testing::StartsWith("\"exec /gangrun/agent/loader: exec format error\""),
                     testing::HasSubstr("the node has another processor"),
                     testing::HasSubstr("{kubernetes.io/arch: ")));
}

TEST(PodLoss, ANodeThatRefuses) {
  PodFacts facts = on_a_node();
  facts.phase = "Failed";
  facts.reason = "OutOfcpu";
  facts.message = "Pod was rejected: Node didn't have enough resource: cpu";
  EXPECT_EQ(
      to_words(*loss_of(facts)),
      "lost its container on node-1: its node refused it (OutOfcpu): \"Pod was rejected: Node "
      "didn't have "
      "enough resource: cpu\"");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
