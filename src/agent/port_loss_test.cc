#include "agent/port_loss.h"

#include <gtest/gtest.h>

#include <csignal>

namespace gangrun::agent {
namespace {

using std::chrono::seconds;

constexpr base::Instant kStart{seconds(1000)};
constexpr std::string_view kInUse = "OSError: [Errno 98] Address already in use";

job::ExitReport failure() {
  job::ExitReport report;
  report.why.reason = job::Reason::kExitStatus;
  report.why.code = 1;
  return report;
}

PortLoss after(std::string_view line, bool is_error = true, base::Instant now = kStart) {
  PortLoss loss;
  loss.begin_run(kStart);
  loss.on_line(is_error, line, now);
  return loss;
}

TEST(PortLoss, AFailureThatSaysSoIsExplained) {
  EXPECT_TRUE(after(kInUse).explains(failure(), kStart + kPortLossWindow));
  EXPECT_FALSE(after("KeyError: 'loss'").explains(failure(), kStart));
}

TEST(PortLoss, WhatIsSaidAfterThatChangesNothing) {
  PortLoss loss = after(kInUse);
  loss.on_line(true, "giving up", kStart);
  EXPECT_TRUE(loss.explains(failure(), kStart));
}

TEST(PortLoss, OnlyErrorsCount) { EXPECT_FALSE(after(kInUse, false).explains(failure(), kStart)); }

TEST(PortLoss, OnlyTheBeginningOfARunCounts) {
  const base::Instant late = kStart + kPortLossWindow + seconds(1);
  EXPECT_FALSE(after(kInUse, true, late).explains(failure(), late));
  // A program that goes on without the port ends for another reason.
  EXPECT_FALSE(after(kInUse).explains(failure(), late));
}

TEST(PortLoss, EachRunSpeaksForItself) {
  PortLoss loss = after(kInUse);
  loss.begin_run(kStart + seconds(5));
  EXPECT_FALSE(loss.explains(failure(), kStart + seconds(6)));
}

TEST(PortLoss, ASuccessIsOne) {
  job::ExitReport report = failure();
  report.success = true;
  EXPECT_FALSE(after(kInUse).explains(report, kStart));
}

TEST(PortLoss, AProgramMayGiveUpByAborting) {
  job::ExitReport report = failure();
  report.why.reason = job::Reason::kSignal;
  report.why.signal = SIGABRT;
  EXPECT_TRUE(after(kInUse).explains(report, kStart));
  // Others end it so, and memory is another matter.
  report.why.signal = SIGTERM;
  EXPECT_FALSE(after(kInUse).explains(report, kStart));
  report.why.reason = job::Reason::kOutOfMemory;
  EXPECT_FALSE(after(kInUse).explains(report, kStart));
}

}  // namespace
}  // namespace gangrun::agent
