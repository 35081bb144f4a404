#include "job/reason.h"

#include <gmock/gmock.h>

#include <set>

namespace gangrun::job {
namespace {

using ::testing::HasSubstr;

TEST(Reason, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Reason reason : all_reasons()) {
    names.insert(to_string(reason));
    EXPECT_EQ(*reason_from(to_string(reason)), reason);
    EXPECT_EQ(reason_or_unknown(to_string(reason)), reason);
  }
  EXPECT_EQ(names.size(), all_reasons().size());
  EXPECT_FALSE(names.contains(to_string(Reason::kUnknown)));
}

TEST(Reason, WhatIsNoneIsToldWithANearOne) {
  EXPECT_THAT(reason_from("out_of_memry").error().message,
              HasSubstr("'out_of_memry' is not a reason; did you mean 'out_of_memory'?"));
  EXPECT_EQ(reason_or_unknown("solar_flare"), Reason::kUnknown);
}

TEST(Reason, WhatThePlaceDoesIsNoFaultOfTheTask) {
  for (const Reason reason : {Reason::kPreempted, Reason::kEvicted, Reason::kLostNode,
                              Reason::kContainerLost, Reason::kNoHeartbeat, Reason::kPortLost}) {
    EXPECT_FALSE(is_own_fault(reason)) << to_string(reason);
  }
  for (const Reason reason : {Reason::kUnknown, Reason::kExitStatus, Reason::kSignal,
                              Reason::kOutOfMemory, Reason::kAgentEnded}) {
    EXPECT_TRUE(is_own_fault(reason)) << to_string(reason);
  }
}

TEST(Reason, OnlyTheEndOfACommandMayComeOfAnotherTasksLoss) {
  std::set<Reason> consequences;
  for (const Reason reason : all_reasons()) {
    if (may_lack_others(reason)) consequences.insert(reason);
  }
  EXPECT_THAT(consequences, testing::UnorderedElementsAre(Reason::kExitStatus, Reason::kSignal));
  EXPECT_TRUE(may_lack_others(Reason::kUnknown));
}

TEST(Reason, SomeSayThatTheCommandHasNotBegun) {
  std::set<Reason> unbegun;
  for (const Reason reason : all_reasons()) {
    if (!has_begun(reason)) unbegun.insert(reason);
  }
  EXPECT_THAT(unbegun,
              testing::UnorderedElementsAre(Reason::kCouldNotStart, Reason::kImagePull,
                                            Reason::kContainerCreate, Reason::kAllocationTimeout));
  EXPECT_TRUE(has_begun(Reason::kUnknown));
}

}  // namespace
}  // namespace gangrun::job
