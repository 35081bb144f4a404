#include "agent/task_phases.h"

#include <gtest/gtest.h>

namespace gangrun::agent {
namespace {

using std::chrono::seconds;
using Next = TaskPhases::Next;

TaskPhases running() {
  TaskPhases phases;
  phases.started();
  return phases;
}

TaskPhases sending() {
  TaskPhases phases = running();
  EXPECT_EQ(phases.run_ended(), Next::kSendResult);
  return phases;
}

TEST(TaskPhases, ARunEndsWhenItsResultIsThereAndItsEndIsTold) {
  TaskPhases phases;
  EXPECT_TRUE(phases.may_start());
  phases.started();
  EXPECT_FALSE(phases.may_start());
  EXPECT_EQ(phases.run_ended(), Next::kSendResult);
  EXPECT_FALSE(phases.may_start());
  EXPECT_EQ(phases.result_over(), Next::kTellEnd);
  EXPECT_FALSE(phases.may_start());
  EXPECT_EQ(phases.end_told(), Next::kNothing);
  EXPECT_TRUE(phases.may_start());
}

TEST(TaskPhases, WhatCouldNotBeStartedMayBeStartedAgain) {
  TaskPhases phases = running();
  phases.not_started();
  EXPECT_TRUE(phases.may_start());
}

TEST(TaskPhases, AnEndWithoutARunIsTheFarewell) {
  TaskPhases phases;
  EXPECT_EQ(phases.end(seconds(5)), Next::kFarewell);
  EXPECT_TRUE(phases.is_ending());
  EXPECT_FALSE(phases.may_start());
}

TEST(TaskPhases, OutputsThatAreOwedAreKeptBeforeTheFarewell) {
  TaskPhases phases = sending();
  phases.owe_outputs();
  ASSERT_EQ(phases.result_over(), Next::kTellEnd);
  ASSERT_EQ(phases.end_told(), Next::kNothing);
  EXPECT_TRUE(phases.may_start());
  EXPECT_EQ(phases.end(seconds(5)), Next::kKeepOutputs);
  EXPECT_FALSE(phases.may_start());
  EXPECT_EQ(phases.end(seconds(2)), Next::kLimitResult);
  EXPECT_EQ(phases.result_over(), Next::kFarewell);
}

TEST(TaskPhases, OutputsThatAreOwedAreGivenUpByAnEndAtOnceByAnotherRunAndWithoutASession) {
  const auto owing = [] {
    TaskPhases phases = sending();
    phases.owe_outputs();
    EXPECT_EQ(phases.result_over(), Next::kTellEnd);
    EXPECT_EQ(phases.end_told(), Next::kNothing);
    return phases;
  };
  TaskPhases at_once = owing();
  EXPECT_EQ(at_once.end(seconds(0)), Next::kFarewell);
  TaskPhases later = owing();
  EXPECT_EQ(later.end(seconds(5)), Next::kKeepOutputs);
  EXPECT_EQ(later.end(seconds(0)), Next::kFarewell);
  TaskPhases alone = owing();
  alone.session_lost();
  EXPECT_EQ(alone.end(seconds(5)), Next::kEnd);
  TaskPhases again = owing();
  again.started();
  EXPECT_EQ(again.end(seconds(5)), Next::kStopRun);
  EXPECT_EQ(again.run_ended(), Next::kSendResult);
  EXPECT_EQ(again.result_over(), Next::kTellEnd);
  EXPECT_EQ(again.end_told(), Next::kFarewell);
}

TEST(TaskPhases, ASecondEndDoesNotWaitForTheFarewell) {
  TaskPhases phases;
  ASSERT_EQ(phases.end(seconds(5)), Next::kFarewell);
  EXPECT_EQ(phases.end(seconds(0)), Next::kEnd);
}

TEST(TaskPhases, AnEndStopsTheRunFirst) {
  TaskPhases phases = running();
  EXPECT_EQ(phases.end(seconds(5)), Next::kStopRun);
  EXPECT_EQ(phases.end(seconds(0)), Next::kStopRun);  // sooner
  EXPECT_EQ(phases.run_ended(), Next::kSendResult);
  EXPECT_EQ(phases.result_over(), Next::kTellEnd);
  EXPECT_EQ(phases.end_told(), Next::kFarewell);
  EXPECT_FALSE(phases.may_start());
}

TEST(TaskPhases, AnEndLimitsTheResult) {
  TaskPhases phases = sending();
  EXPECT_EQ(phases.end(seconds(5)), Next::kLimitResult);
  EXPECT_EQ(phases.result_over(), Next::kTellEnd);
  EXPECT_EQ(phases.end_told(), Next::kFarewell);
}

TEST(TaskPhases, AnEndWithoutGraceDropsTheResult) {
  TaskPhases phases = sending();
  EXPECT_EQ(phases.end(seconds(0)), Next::kTellEnd);
  EXPECT_EQ(phases.end_told(), Next::kFarewell);
}

TEST(TaskPhases, AStopIsOfOneRun) {
  TaskPhases phases;
  phases.stop_asked();  // before the start comes
  EXPECT_TRUE(phases.is_stop_asked());
  phases.started();
  EXPECT_FALSE(phases.is_stop_asked());
  phases.stop_asked();
  (void)phases.run_ended();
  EXPECT_TRUE(phases.is_stop_asked());  // what the end means
  EXPECT_FALSE(phases.is_ending());
}

TEST(TaskPhases, WithoutAMasterNoResultIsSent) {
  TaskPhases phases = running();
  phases.session_lost();
  EXPECT_EQ(phases.end(seconds(5)), Next::kStopRun);
  EXPECT_EQ(phases.run_ended(), Next::kTellEnd);
  EXPECT_EQ(phases.end_told(), Next::kEnd);
}

TEST(TaskPhases, AResultThatIsBeingSentGoesWithTheMaster) {
  TaskPhases phases = sending();
  phases.session_lost();
  EXPECT_EQ(phases.end(seconds(5)), Next::kTellEnd);
  EXPECT_EQ(phases.end_told(), Next::kEnd);
}

TEST(TaskPhases, AMasterThatIsLostWhileTheRunStopsGetsNoFarewell) {
  TaskPhases phases = running();
  ASSERT_EQ(phases.end(seconds(5)), Next::kStopRun);
  phases.session_lost();
  EXPECT_EQ(phases.end(seconds(0)), Next::kStopRun);
  EXPECT_EQ(phases.run_ended(), Next::kTellEnd);
  EXPECT_EQ(phases.end_told(), Next::kEnd);
}

TEST(TaskPhases, WithoutMasterAndRunThereIsNothingToWaitFor) {
  TaskPhases phases;
  phases.session_lost();
  EXPECT_EQ(phases.end(seconds(5)), Next::kEnd);
}

}  // namespace
}  // namespace gangrun::agent
