#include "yarn/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace gangrun::yarn {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr base::Instant kStart{seconds(1000)};

hadoop::NodeReport node(const std::string& host, const std::string& rack = "/default-rack") {
  hadoop::NodeReport report;
  report.id = {host, 1};
  report.rack = rack;
  return report;
}

hadoop::Container container(std::int64_t id, std::int64_t number) {
  hadoop::Container made;
  made.id.id = id;
  made.allocation_request_id = number;
  return made;
}

ContainerWish wish(std::int64_t memory_mib = 1024) {
  return {.resource = {.memory_mib = memory_mib, .vcores = 1}};
}

Allocation::Options options(bool all_or_nothing = true) {
  return {.all_or_nothing = all_or_nothing, .hold = seconds(60), .random = [] { return 0.5; }};
}

std::vector<std::string> names(const std::vector<hadoop::ResourceRequest>& asks) {
  std::vector<std::string> names;
  for (const auto& ask : asks) names.push_back(ask.resource_name);
  return names;
}

TEST(Allocation, AsksForEachTaskByItsNumberAndNamesHostsRackAndAny) {
  Allocation allocation(options());
  allocation.set_hosts({node("a"), node("b", "/other")});
  allocation.want(7, wish());
  ASSERT_TRUE(allocation.has_request());
  const auto request = allocation.take_request();
  EXPECT_THAT(names(request.asks), ElementsAre("a", "b", "/default-rack", "/other", "*"));
  EXPECT_THAT(request.asks, Each(AllOf(Field(&hadoop::ResourceRequest::allocation_request_id, 7),
                                       Field(&hadoop::ResourceRequest::containers, 1),
                                       Field(&hadoop::ResourceRequest::relax_locality, true))));
  EXPECT_FALSE(allocation.has_request());
}

TEST(Allocation, NamesNoHostBesideALabel) {
  Allocation allocation(options());
  allocation.set_hosts({node("a")});
  ContainerWish labelled = wish();
  labelled.label = "gpu";
  allocation.want(0, labelled);
  EXPECT_THAT(names(allocation.take_request().asks), ElementsAre("*"));
}

TEST(Allocation, NamesNoMoreHostsThanCanBeAfforded) {
  Allocation allocation(options());
  std::vector<hadoop::NodeReport> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back(node(std::to_string(i)));
  allocation.set_hosts(nodes);
  for (int i = 0; i < 1000; ++i) allocation.want(i, wish());
  EXPECT_LE(allocation.take_request().asks.size(), kMaxHostEntries + 2 * 1000);
}

TEST(Allocation, HandsOnNothingBeforeAllAreThere) {
  Allocation allocation(options());
  allocation.want(0, wish());
  allocation.want(1, wish());
  (void)allocation.take_request();
  EXPECT_THAT(allocation.on_allocated({container(10, 0)}, kStart), IsEmpty());
  EXPECT_THAT(allocation.waiting_for(kStart), HasSubstr("1 of 2 containers"));
  EXPECT_THAT(allocation.on_allocated({container(11, 1)}, kStart), SizeIs(2));
  EXPECT_EQ(allocation.waiting_for(kStart), "");
  EXPECT_FALSE(allocation.has_request());
}

TEST(Allocation, AnElasticJobGetsWhatThereIs) {
  Allocation allocation(options(false));
  allocation.want(0, wish());
  allocation.want(1, wish());
  (void)allocation.take_request();
  EXPECT_THAT(allocation.on_allocated({container(10, 1)}, kStart), SizeIs(1));
  EXPECT_EQ(allocation.wanted(), 1U);
}

TEST(Allocation, GivesBackWhatNobodyWants) {
  Allocation allocation(options());
  allocation.want(0, wish());
  (void)allocation.take_request();
  (void)allocation.on_allocated({container(10, 0), container(11, 0), container(12, 5)}, kStart);
  EXPECT_THAT(allocation.take_request().releases, SizeIs(2));
}

TEST(Allocation, WhatIsForgottenIsTakenBackAndGivenBack) {
  Allocation allocation(options());
  allocation.want(0, wish());
  allocation.want(1, wish());
  (void)allocation.take_request();
  (void)allocation.on_allocated({container(10, 0)}, kStart);
  allocation.forget(0);
  allocation.forget(1);
  const auto request = allocation.take_request();
  EXPECT_THAT(request.releases, SizeIs(1));
  ASSERT_THAT(request.asks, SizeIs(1));
  EXPECT_EQ(request.asks[0].allocation_request_id, 1);
  EXPECT_EQ(request.asks[0].containers, 0);
}

TEST(Allocation, AHeldContainerThatEndsIsAskedForAgain) {
  Allocation allocation(options());
  allocation.want(0, wish());
  allocation.want(1, wish());
  (void)allocation.take_request();
  (void)allocation.on_allocated({container(10, 0)}, kStart);
  allocation.on_completed(container(10, 0).id);
  const auto request = allocation.take_request();
  ASSERT_THAT(request.asks, SizeIs(1));
  EXPECT_EQ(request.asks[0].allocation_request_id, 0);
}

TEST(Allocation, GivesBackWhatItHeldForTooLongAndAsksAgainAfterAPause) {
  Allocation allocation(options());
  allocation.want(0, wish());
  allocation.want(1, wish());
  (void)allocation.take_request();
  (void)allocation.on_allocated({container(10, 0)}, kStart);
  ASSERT_EQ(allocation.next_deadline(), kStart + seconds(60));
  allocation.on_time(kStart + seconds(60));
  const auto back = allocation.take_request();
  EXPECT_THAT(back.releases, SizeIs(1));
  ASSERT_THAT(back.asks, SizeIs(1));  // what had not come is not wanted in the pause
  EXPECT_EQ(back.asks[0].containers, 0);
  EXPECT_FALSE(allocation.has_request());
  ASSERT_EQ(allocation.next_deadline(), kStart + seconds(93));
  EXPECT_THAT(allocation.waiting_for(kStart + seconds(61)), HasSubstr("asked again in 32 s"));
  allocation.on_time(kStart + seconds(93));
  EXPECT_THAT(allocation.take_request().asks, SizeIs(2));
}

TEST(Allocation, AfterARestartOfTheResourceManagerEverythingIsSaidAgain) {
  Allocation allocation(options());
  allocation.want(0, wish());
  allocation.want(1, wish());
  allocation.release(container(9, 0).id);
  (void)allocation.take_request();
  (void)allocation.on_allocated({container(10, 0)}, kStart);
  allocation.on_resync();
  const auto request = allocation.take_request();
  EXPECT_THAT(request.releases, SizeIs(1));
  ASSERT_THAT(request.asks, SizeIs(1));  // not what is held
  EXPECT_EQ(request.asks[0].allocation_request_id, 1);
  allocation.on_completed(container(9, 0).id);
  allocation.on_resync();
  EXPECT_THAT(allocation.take_request().releases, IsEmpty());
}

TEST(Allocation, DeniesAHostAsLongAsATaskAvoidsIt) {
  Allocation allocation(options());
  allocation.set_hosts({node("a"), node("b")});
  ContainerWish avoiding = wish();
  avoiding.avoided = {"a"};
  allocation.want(0, avoiding);
  auto request = allocation.take_request();
  EXPECT_THAT(request.denied_hosts, ElementsAre("a"));
  EXPECT_THAT(names(request.asks), ElementsAre("b", "/default-rack", "*"));
  (void)allocation.on_allocated({container(10, 0)}, kStart);
  request = allocation.take_request();
  EXPECT_THAT(request.hosts_allowed_again, ElementsAre("a"));
}

TEST(Allocation, WhatThePlacementHandlerRejectsIsAskedForAgainLater) {
  Allocation allocation(options());
  ContainerWish apart = wish();
  apart.one_per_node = true;
  apart.tag = "ps";
  allocation.want(0, apart);
  EXPECT_THAT(allocation.take_request().constrained_asks, SizeIs(1));
  allocation.on_rejected(0, kStart);
  EXPECT_FALSE(allocation.has_request());
  ASSERT_EQ(allocation.next_deadline(), kStart + kRejectedPause);
  allocation.on_time(kStart + kRejectedPause);
  EXPECT_THAT(allocation.take_request().constrained_asks, SizeIs(1));
}

// Real ones forget those with a constraint otherwise.
TEST(Allocation, AsksWithAConstraintGoAlone) {
  Allocation allocation(options());
  ContainerWish apart = wish();
  apart.one_per_node = true;
  apart.tag = "ps";
  apart.label = "gpu";
  allocation.want(0, wish());
  allocation.want(1, apart);
  const auto first = allocation.take_request();
  EXPECT_THAT(first.asks, IsEmpty());
  ASSERT_THAT(first.constrained_asks, SizeIs(1));
  EXPECT_EQ(first.constrained_asks[0].node_label, "gpu");
  EXPECT_TRUE(allocation.has_request());
  const auto second = allocation.take_request();
  EXPECT_THAT(second.asks, SizeIs(1));
  EXPECT_THAT(second.constrained_asks, IsEmpty());
  EXPECT_FALSE(allocation.has_request());
}

// A ResourceManager of `room` containers that grants one a step, to whoever asked first.
class Scheduler {
 public:
  explicit Scheduler(int room) : room_(room) {}

  void ask(int job, const hadoop::AllocateRequest& request) {
    for (const auto& id : request.releases) {
      if (taken_.erase(id.id) > 0) ++room_;
    }
    for (const auto& ask : request.asks) {
      if (ask.resource_name != "*") continue;
      const std::pair<int, std::int64_t> key{job, ask.allocation_request_id};
      std::erase(queue_, key);
      if (ask.containers > 0) queue_.push_back(key);
    }
  }
  void give_back(std::int64_t id) {
    if (taken_.erase(id) > 0) ++room_;
  }
  // The job that gets a container, and the container.
  std::optional<std::pair<int, hadoop::Container>> step(std::mt19937& random) {
    if (room_ == 0 || queue_.empty()) return std::nullopt;
    const std::size_t chosen = random() % queue_.size();
    const auto [job, number] = queue_[chosen];
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(chosen));
    --room_;
    taken_.insert(++last_id_);
    return std::pair{job, container(last_id_, number)};
  }

 private:
  int room_;
  std::int64_t last_id_ = 0;
  std::deque<std::pair<int, std::int64_t>> queue_;
  std::set<std::int64_t> taken_;
};

// Two jobs that each fit alone but not together: both get all of theirs, one after the other.
TEST(Allocation, TwoJobsThatDoNotFitTogetherBothGetTheirTurn) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    Scheduler scheduler(6);
    std::vector<Allocation> jobs;
    for (int job = 0; job < 2; ++job) {
      jobs.emplace_back(Allocation::Options{
          .hold = seconds(5), .random = [&random] { return (random() % 1000) / 1000.0; }});
      for (int number = 0; number < 5; ++number) jobs.back().want(number, wish());
    }
    std::vector<std::optional<base::Instant>> ends(2);
    std::vector<std::vector<hadoop::Container>> granted(2);
    base::Instant now = kStart;
    const auto both_done = [&granted] { return granted[0].size() == 5 && granted[1].size() == 5; };
    for (int step = 0; step < 100'000 && !both_done(); ++step) {
      now += milliseconds(100);
      for (int job = 0; job < 2; ++job) {
        const auto at = static_cast<std::size_t>(job);
        jobs[at].on_time(now);
        scheduler.ask(job, jobs[at].take_request());
        if (!ends[at] || now < *ends[at]) continue;
        for (const auto& one : granted[at]) scheduler.give_back(one.id.id);
      }
      const auto given = scheduler.step(random);
      if (!given) continue;
      const auto at = static_cast<std::size_t>(given->first);
      auto all = jobs[at].on_allocated({given->second}, now);
      if (all.empty()) continue;
      granted[at] = std::move(all);
      ends[at] = now + seconds(20);
    }
    EXPECT_TRUE(both_done()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gangrun::yarn
