#include "master/decision_gate.h"

#include <gtest/gtest.h>

#include <string>

namespace gangrun::master {
namespace {

class Copy final : public journal::FarCopy {
 public:
  void copy(std::function<void()> done) override { waiting.push_back(std::move(done)); }
  void finish_one() {
    const auto done = std::move(waiting.front());
    waiting.pop_front();
    done();
  }
  void hurry() override { hurried = true; }
  std::deque<std::function<void()>> waiting;
  bool hurried = false;
};

struct Recorder {
  std::string seen;

  void operator()(const gang::Decision& decision) {
    if (std::holds_alternative<gang::Publish>(decision)) seen += 'P';
    if (std::holds_alternative<gang::Start>(decision)) seen += 'S';
    if (std::holds_alternative<gang::Stop>(decision)) seen += 's';
    if (std::holds_alternative<gang::Allocate>(decision)) seen += 'A';
    if (std::holds_alternative<gang::Finish>(decision)) seen += 'F';
  }
};

TEST(DecisionGate, WithoutAFarCopyNothingIsHeld) {
  Recorder recorder;
  DecisionGate gate(nullptr, std::ref(recorder));
  gate.pass({gang::Publish{}, gang::Start{}, gang::Finish{}});
  EXPECT_EQ(recorder.seen, "PSF");
}

TEST(DecisionGate, WhatAsksForPlacesGoesAtOnce) {
  Recorder recorder;
  Copy copy;
  DecisionGate gate(&copy, std::ref(recorder));
  gate.pass({gang::Allocate{}, gang::Allocate{}});
  EXPECT_EQ(recorder.seen, "AA");
  EXPECT_TRUE(copy.waiting.empty());
}

TEST(DecisionGate, OnlyTheEndIsInAHurry) {
  Recorder recorder;
  Copy copy;
  DecisionGate gate(&copy, std::ref(recorder));
  gate.pass({gang::Start{}});
  EXPECT_FALSE(copy.hurried);
  gate.pass({gang::Finish{}});
  EXPECT_TRUE(copy.hurried);
}

TEST(DecisionGate, AStartWaitsAndWhatFollowsItToo) {
  Recorder recorder;
  Copy copy;
  DecisionGate gate(&copy, std::ref(recorder));
  gate.pass({gang::Allocate{}, gang::Publish{}, gang::Start{}});
  gate.pass({gang::Stop{}});
  EXPECT_EQ(recorder.seen, "A");
  copy.finish_one();
  EXPECT_EQ(recorder.seen, "APS");
  gate.pass({gang::Allocate{}});
  copy.finish_one();
  EXPECT_EQ(recorder.seen, "APSs");
  copy.finish_one();
  EXPECT_EQ(recorder.seen, "APSsA");
  gate.pass({gang::Stop{}});
  EXPECT_EQ(recorder.seen, "APSsAs");
}

}  // namespace
}  // namespace gangrun::master
