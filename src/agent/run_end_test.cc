#include "agent/run_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

namespace gangrun::agent {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kInUse = "OSError: [Errno 98] Address already in use";
constexpr const char* kSomebody = "process 4711 (python) of user 1000";
constexpr std::uint16_t kHeld = 40001;

job::ExitReport failure(std::vector<std::string> last_lines = {kInUse}) {
  job::ExitReport report;
  report.why.reason = job::Reason::kExitStatus;
  report.why.code = 1;
  report.last_lines = std::move(last_lines);
  return report;
}

PortEnd judged(const job::ExitReport& report, const std::vector<std::uint16_t>& taken,
               base::Duration ran = seconds(1), RunPorts ports = {.held = {kHeld}},
               bool by_own_job = false) {
  return judge_ports(report, ran, ports, [&](std::uint16_t port) -> PortUser {
    if (std::find(taken.begin(), taken.end(), port) == taken.end()) return {};
    return {kSomebody, by_own_job};
  });
}

TEST(PortLoss, AnotherProcessThatListensOnAHeldPortIsProof) {
  for (const job::Hold hold : {job::Hold::kUntilBind, job::Hold::kUntilExec}) {
    const RunPorts ports{.held = {40000, kHeld}, .hold = hold};
    const PortEnd end = judged(failure(), {kHeld}, kPortLossWindow, ports);
    EXPECT_TRUE(end.lost);
    EXPECT_EQ(end.words, "port 40001 is in use by process 4711 (python) of user 1000");
  }
}

TEST(PortLoss, WhateverTheProgramSays) { EXPECT_TRUE(judged(failure({"KeyError"}), {kHeld}).lost); }

// A script whose own port was taken ran six times, and the port that was held for it was blamed.
TEST(PortLoss, ALineIsNoEvidence) {
  for (const char* line : {kInUse, "bind: Address already in use", "EADDRINUSE",
                           "UnknownError: Could not start gRPC server"}) {
    EXPECT_FALSE(judged(failure({line}), {}).lost) << line;
    EXPECT_FALSE(judged(failure({line}), {5000}).lost) << line;
  }
}

// Ranks that all bind MASTER_PORT ran six times.
TEST(PortLoss, AnotherRankOfTheJobWouldTakeTheNextPortToo) {
  const PortEnd end = judged(failure(), {kHeld}, seconds(1), {.held = {kHeld}}, true);
  EXPECT_FALSE(end.lost);
  EXPECT_EQ(end.words,
            std::string(kInUse) + "; port 40001 is in use by " + kSomebody + ", of this job");
}

TEST(PortLoss, AProcessIsOfTheJobIfItsEnvironmentOrItsNamespaceSaysSo) {
  const std::string environment("PATH=/bin\0GANGRUN_JOB_ID=train-1\0", 34);
  EXPECT_TRUE(port_user({.words = kSomebody, .environment = environment}, "train-1").is_of_job);
  EXPECT_FALSE(port_user({.words = kSomebody, .environment = environment}, "train-11").is_of_job);
  EXPECT_FALSE(port_user({.words = kSomebody, .environment = environment}, "rain-1").is_of_job);
  EXPECT_FALSE(port_user({.words = kSomebody}, "train-1").is_of_job);
  EXPECT_TRUE(port_user({.words = kSomebody, .is_inside = true}, "train-1").is_of_job);
}

TEST(PortLoss, OnlyTheBeginningOfARunCounts) {
  const PortEnd end = judged(failure(), {kHeld}, kPortLossWindow + seconds(1));
  EXPECT_FALSE(end.lost);
  EXPECT_EQ(end.words, std::string(kInUse) + "; port 40001 is in use by " + kSomebody);
}

TEST(PortLoss, ASuccessIsOne) {
  job::ExitReport report = failure();
  report.success = true;
  EXPECT_FALSE(judged(report, {kHeld}).lost);
  EXPECT_EQ(judged(report, {kHeld}).words, "");
}

TEST(PortLoss, AProgramMayGiveUpByAborting) {
  job::ExitReport report = failure();
  report.why.reason = job::Reason::kSignal;
  report.why.signal = SIGABRT;
  EXPECT_TRUE(judged(report, {kHeld}).lost);
  // Others end it so, and memory is another matter.
  report.why.signal = SIGTERM;
  EXPECT_FALSE(judged(report, {kHeld}).lost);
  report.why.reason = job::Reason::kOutOfMemory;
  EXPECT_FALSE(judged(report, {kHeld}).lost);
}

TEST(PortLoss, WhoHasThePortThatTheWordsNameIsAdded) {
  const std::vector<std::string> store = {
      "torch.distributed.DistNetworkError: failed to bind to [::]:29500 (errno: 98 - Address "
      "already in use)."};
  EXPECT_EQ(judged(failure(store), {29500, 5000}).words,
            store[0] + "; port 29500 is in use by " + kSomebody);
  // Its other wishes are not checked, and the hold is not the trouble.
  const RunPorts told{.held = {kHeld}, .told = {5000}};
  EXPECT_EQ(judged(failure(store), {5000}, seconds(1), told).words, "");
}

TEST(PortLoss, WordsThatNameNoneAreAnsweredByTheCodeThenByWhatTheUserSet) {
  const RunPorts told{.held = {kHeld}, .told = {29500}};
  const std::vector<std::string> lines = {
      "Traceback (most recent call last):", "  File \"a.py\", line 2222, in <module>",
      "    server.bind((\"\", 5000))", kInUse};
  EXPECT_EQ(judged(failure(lines), {5000, 29500, 2222}, seconds(1), told).words,
            std::string(kInUse) + "; port 5000 is in use by " + kSomebody);
  EXPECT_EQ(judged(failure(lines), {29500}, seconds(1), told).words,
            std::string(kInUse) + "; port 29500 is in use by " + kSomebody);
}

TEST(PortLoss, ThePlainBindOfAHeldPortIsToldWhatItNeeds) {
  const std::string needed =
      "; if that was port 40001, it was held for the task, and a program that binds it with "
      "neither SO_REUSEADDR nor SO_REUSEPORT needs `ports: {hold: until-exec}`";
  const PortEnd end = judged(failure({"bind: Address already in use ", ""}), {});
  EXPECT_FALSE(end.lost);
  EXPECT_EQ(end.words, "bind: Address already in use" + needed);
  EXPECT_EQ(judged(failure({"listen EADDRINUSE :::40001"}), {}).words,
            "listen EADDRINUSE :::40001" + needed);
  EXPECT_EQ(judged(failure({"listen EADDRINUSE :::8080"}), {}).words, "");
  const RunPorts let_go{.held = {kHeld}, .hold = job::Hold::kUntilExec};
  EXPECT_EQ(judged(failure(), {}, seconds(1), let_go).words, "");
}

TEST(PortLoss, AFailureThatSaysNothingOfPortsIsLeftAsItIs) {
  EXPECT_EQ(judged(failure({"KeyError: 'loss'", "at localhost:5000"}), {5000}).words, "");
  EXPECT_EQ(judged(failure({}), {}).words, "");
}

TEST(PortLoss, ALongLineIsShortened) {
  const std::string line = std::string(20'000, 'x') + kInUse + " port 5000";
  EXPECT_LT(judged(failure({line}), {5000}).words.size(), 400U);
}

TEST(PortLoss, TheUsersVariablesAndCommandTellPorts) {
  EXPECT_THAT(ports_told({{"MASTER_PORT", "29500"}, {"STEPS", "7000"}}, {{"http_port", "81"}},
                         {"python", "train.py", "--steps=9000", "--port", "6006"}),
              ElementsAre(81, 29500, 6006));
  EXPECT_THAT(ports_told({}, {}, {"python", "-c", "socket().bind(('', 5000))"}), ElementsAre(5000));
  EXPECT_THAT(ports_told({{"MASTER_PORT", "many"}}, {{"PORT", "70000"}}, {"true"}), IsEmpty());
}

const job::Why kStatus{.reason = job::Reason::kExitStatus, .code = 143};

job::ExitReport failed(const job::Why& why = kStatus) {
  job::ExitReport report;
  report.why = why;
  return report;
}

TEST(RunEnd, OfItsOwnIsToldAsItIs) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {}), PortsNext::kHoldAgain);
  EXPECT_EQ(report, failed());
}

TEST(RunEnd, ASuccessIsOneWhateverElseIsKnown) {
  job::ExitReport report;
  report.success = true;
  const RunCircumstances all{.has_notice = true, .agent_ends_for = "x", .lost_port = true};
  EXPECT_EQ(judge(report, all), PortsNext::kHoldAgain);
  EXPECT_EQ(report.why, job::Why());
}

TEST(RunEnd, AfterANoticeItIsThePreemption) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {.has_notice = true, .lost_port = true}), PortsNext::kNothing);
  EXPECT_EQ(report.why, (job::Why{.reason = job::Reason::kPreempted, .code = 143}));
  EXPECT_FALSE(report.port_lost);
}

TEST(RunEnd, NoMemoryIsItsOwnAlsoAfterANotice) {
  job::ExitReport report = failed({.reason = job::Reason::kOutOfMemory, .signal = 9});
  EXPECT_EQ(judge(report, {.has_notice = true}), PortsNext::kHoldAgain);
  EXPECT_EQ(report.why.reason, job::Reason::kOutOfMemory);
}

// How the process took it says nothing then.
TEST(RunEnd, ByTheAgentIsTheAgents) {
  job::ExitReport report = failed();
  const RunCircumstances known{.agent_ends_for = "its lease is over", .lost_port = true};
  EXPECT_EQ(judge(report, known), PortsNext::kNothing);
  EXPECT_EQ(report.why,
            (job::Why{.reason = job::Reason::kAgentEnded, .detail = "its lease is over"}));
  EXPECT_FALSE(report.port_lost);
}

TEST(RunEnd, ByTheAgentAfterANoticeIsStillThePreemption) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {.has_notice = true, .agent_ends_for = "x"}), PortsNext::kNothing);
  EXPECT_EQ(report.why, (job::Why{.reason = job::Reason::kPreempted, .code = 143, .detail = "x"}));
}

TEST(RunEnd, ForItsPortItGetsAnother) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {.lost_port = true}), PortsNext::kTakeOthers);
  EXPECT_EQ(report.why, (job::Why{.reason = job::Reason::kPortLost, .code = 143}));
  EXPECT_TRUE(report.port_lost);
}

}  // namespace
}  // namespace gangrun::agent
