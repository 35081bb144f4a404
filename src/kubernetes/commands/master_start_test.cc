#include "kubernetes/commands/master_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::kubernetes::commands {
namespace {

using base::Json;
using pods::StartTrouble;
using testing::HasSubstr;

Json pod_with(const Json& state) {
  return {{"metadata", {{"name", "wine-master-x"}, {"uid", "u-1"}}},
          {"spec", {{"nodeName", "node-1"}}},
          {"status",
           {{"phase", "Running"},
            {"containerStatuses",
             Json::array({{{"name", "master"}, {"image", "tf"}, {"state", state}}})}}}};
}

TEST(MasterStart, LeadsWhereItHasTheJobAndSaysItsState) {
  records::Head head;
  head.master = 1;
  EXPECT_FALSE(master_start(head, {}, "").leads);
  head.summary.state = "allocating";
  EXPECT_TRUE(master_start(head, {}, "").leads);
  head.master = 0;
  EXPECT_FALSE(master_start(head, {}, "").leads);
}

TEST(MasterStart, TellsWhatItWaitsFor) {
  const records::Head none;
  EXPECT_EQ(master_start(none, {}, "").words, "its pod is not there yet");
  EXPECT_EQ(master_start(none, {}, "a webhook denied it").words, "a webhook denied it");
  const Json running = pod_with({{"running", {{"startedAt", "2026-01-31T12:00:00Z"}}}});
  EXPECT_EQ(master_start(none, {running}, "").words,
            "its pod wine-master-x runs, and has not taken the job yet");
  const Json ended = pod_with(
      {{"terminated",
        {{"exitCode", 1}, {"message", "no journal"}, {"startedAt", "2026-01-31T12:00:00Z"}}}});
  EXPECT_EQ(master_start(none, {ended}, "").words,
            "its container in the pod wine-master-x ended with status 1, and is started again: "
            "\"no journal\"");
  EXPECT_EQ(master_start(none, {ended}, "").trouble, StartTrouble::kNone);
  const Json for_good = pod_with(
      {{"terminated",
        {{"exitCode", 0}, {"message", "no spec"}, {"startedAt", "2026-01-31T12:00:00Z"}}}});
  EXPECT_EQ(master_start(none, {for_good}, "").words,
            "its container in the pod wine-master-x ended with status 0 for good: \"no spec\"");
  EXPECT_EQ(master_start(none, {for_good}, "").trouble, StartTrouble::kFinal);
}

TEST(MasterStart, NamesTheFieldsToSetWhereTheNamespaceDoesNotTakeItsPod) {
  const std::string fields =
      "; kubernetes.master.memory and kubernetes.master.vcores say what it asks for";
  const std::string range = "maximum memory usage per Container is 128Mi, but limit is 256Mi";
  const MasterStart never = master_start({}, {}, range);
  EXPECT_EQ(never.words, range + fields);
  EXPECT_EQ(never.trouble, StartTrouble::kFinal);
  // Others may end, and give back what they use.
  const MasterStart waits = master_start({}, {}, "exceeded quota: all");
  EXPECT_EQ(waits.words, "exceeded quota: all" + fields);
  EXPECT_EQ(waits.trouble, StartTrouble::kNone);
}

TEST(MasterStart, KnowsTheTroubleOfThePodThatStays) {
  const records::Head none;
  Json going = pod_with({{"waiting", {{"reason", "InvalidImageName"}}}});
  going["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z";
  const Json waiting = pod_with({{"waiting", {{"reason", "ErrImagePull"}, {"message", "denied"}}}});
  const MasterStart start = master_start(none, {going, waiting}, "");
  EXPECT_EQ(start.trouble, StartTrouble::kImage);
  EXPECT_THAT(start.words, HasSubstr("image tf cannot be pulled (ErrImagePull): "));
  EXPECT_EQ(master_start(none, {going}, "").trouble, StartTrouble::kFinal);
}

TEST(MasterStart, HandsOnWhatAMasterRefuses) {
  records::Head head;
  head.refusal = "no right to create pods";
  EXPECT_EQ(master_start(head, {}, "").refusal, "no right to create pods");
  EXPECT_FALSE(master_start(head, {}, "").lacks_right);
  head.refusal_code = "permission_denied";
  EXPECT_TRUE(master_start(head, {}, "").lacks_right);
  head.refusal = "kubernetes.journal: /gangrun/journal: Permission denied";
  EXPECT_FALSE(master_start(head, {}, "").lacks_right);
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
