#include "yarn/container_book.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "base/overloaded.h"
#include "job/last_words.h"

namespace gangrun::yarn {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::Instant kStart{seconds(1000)};
const hadoop::NodeId kNode{"node-1", 45454};

hadoop::ContainerId container_id(std::int64_t number, int attempt = 1) {
  return {{{1700000000000, 1}, attempt}, number};
}

hadoop::Container container_for(std::int64_t number, std::int64_t request,
                                const hadoop::NodeId& node = kNode) {
  hadoop::Container container;
  container.id = container_id(number);
  container.node = node;
  container.allocation_request_id = request;
  return container;
}

hadoop::ContainerStatus completed(const hadoop::ContainerId& id, std::int32_t status) {
  hadoop::ContainerStatus ended;
  ended.id = id;
  ended.state = hadoop::ContainerState::kComplete;
  ended.exit_status = status;
  return ended;
}

std::string words(const ContainerAction& action) {
  const auto name = [](const job::TaskId& task, int attempt) {
    return base::format("{}/{}", job::to_string(task), attempt);
  };
  const auto event_words = base::Overloaded{
      [](const gang::ClusterWaiting& waiting) { return "waits: " + waiting.reason; },
      [&](const cluster::AgentAllocated& got) {
        return base::format("allocated {} {}", name(got.task, got.attempt), got.host);
      },
      [&](const cluster::PreemptionNotice& notice) {
        return base::format("notice {} {}", name(notice.task, notice.attempt),
                            (notice.deadline - kStart) / milliseconds(1));
      },
      [&](const job::AgentEnded& ended) {
        std::string run;
        if (ended.run && ended.run->report.success) {
          run = base::format("; its run {} succeeded", ended.run->attempt);
        }
        return base::format("ended {} {}: {}{}", name(ended.task, ended.attempt),
                            job::to_string(ended.why.reason), to_words(ended.why), run);
      },
      [](const cluster::LossesTold&) { return std::string("losses told"); },
      [](const gang::ClusterGone&) { return std::string("gone"); },
      [](const gang::HostSilent&) { return std::string("silent"); },
      [](const cluster::Remark&) { return std::string("remark"); },
      [](const cluster::TasksWarning&) { return std::string("warning"); }};
  return std::visit(
      base::Overloaded{
          [](const StartContainer& start) {
            return base::format("start {} in {}", job::to_string(start.task),
                                start.container.id.id);
          },
          [](const StopContainer& stop) {
            return base::format("stop {} on {}", stop.id.id, stop.node.host);
          },
          [&](const cluster::LaunchEvent& event) { return std::visit(event_words, event); }},
      action);
}

struct ContainerBookTest : testing::Test {
  static job::TaskId worker(int index) { return {"worker", index}; }

  static ContainerBook::Options options(int instances, std::optional<int> min = std::nullopt) {
    ContainerBook::Options options;
    job::TaskSpec& task = options.spec.tasks.emplace_back();
    task.type = "worker";
    task.instances = instances;
    task.min_instances = min;
    options.random = [] { return 0.5; };
    return options;
  }
  static cluster::Launch small() {
    cluster::Launch launch;
    launch.resources.memory_mib = 512;
    return launch;
  }
  static base::Json handle(std::int64_t number) {
    return {{"container", hadoop::to_string(container_id(number))},
            {"node", kNode.host},
            {"node_port", kNode.port}};
  }
  static hadoop::Registered registered(std::vector<hadoop::Container> containers = {}) {
    hadoop::Registered registered;
    registered.queue = "default";
    registered.node_tokens = {{kNode, {}}};
    registered.containers = std::move(containers);
    return registered;
  }
  // One answer: what was granted, and what has ended.
  static void answer(ContainerBook& book, std::vector<hadoop::Container> granted,
                     std::vector<hadoop::ContainerStatus> ended = {}) {
    (void)book.request();
    hadoop::AllocateResponse response;
    response.allocated = std::move(granted);
    response.completed = std::move(ended);
    response.headroom = {4096, 4};
    book.on_allocated(response, kStart);
  }
  static std::vector<std::string> take(ContainerBook& book) {
    std::vector<std::string> all;
    for (const ContainerAction& action : book.take_actions()) all.push_back(words(action));
    return all;
  }
  static std::vector<std::int64_t> released(ContainerBook& book) {
    std::vector<std::int64_t> numbers;
    for (const hadoop::ContainerId& id : book.request().releases) numbers.push_back(id.id);
    return numbers;
  }
  // A task in container 7.
  static ContainerBook running() {
    ContainerBook book(options(1));
    book.on_registered(registered());
    book.start(worker(0), 1, small());
    answer(book, {container_for(7, 0)});
    EXPECT_THAT(take(book), ElementsAre("allocated worker:0/1 node-1", "start worker:0 in 7"));
    return book;
  }
};

TEST_F(ContainerBookTest, AContainerIsOfTheTaskThatAskedByItsNumber) {
  ContainerBook book(options(2));
  book.on_registered(registered());
  book.start(worker(1), 3, small());
  book.start(worker(0), 1, small());
  EXPECT_TRUE(book.has_more_to_ask());
  answer(book, {container_for(8, 1), container_for(7, 0)});
  const auto actions = book.take_actions();
  ASSERT_THAT(actions, SizeIs(4));
  EXPECT_EQ(words(actions[0]), "allocated worker:0/1 node-1");
  EXPECT_EQ(words(actions[1]), "start worker:0 in 7");
  EXPECT_EQ(words(actions[2]), "allocated worker:1/3 node-1");
  EXPECT_EQ(words(actions[3]), "start worker:1 in 8");
  const auto& told = std::get<cluster::AgentAllocated>(std::get<cluster::LaunchEvent>(actions[0]));
  EXPECT_EQ(told.handle, handle(7));
  EXPECT_TRUE(book.has(container_id(7)));
}

TEST_F(ContainerBookTest, TellsOnceWhatItWaitsFor) {
  ContainerBook book(options(2));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  book.start(worker(1), 1, small());
  answer(book, {container_for(7, 0)});
  EXPECT_THAT(take(book), ElementsAre(HasSubstr("waits: 1 of 2 containers are there")));
  answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
  answer(book, {container_for(8, 1)});
  EXPECT_THAT(take(book), SizeIs(4));
}

TEST_F(ContainerBookTest, AJobThatCanBeSmallerTakesWhatThereIs) {
  ContainerBook book(options(2, 1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  book.start(worker(1), 1, small());
  answer(book, {container_for(8, 1)});
  EXPECT_THAT(take(book), ElementsAre("allocated worker:1/1 node-1", "start worker:1 in 8",
                                      HasSubstr("waits: 0 of 1 containers")));
}

TEST_F(ContainerBookTest, ARequestIsTheSameUntilItIsAnswered) {
  ContainerBook book(options(2));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  const std::size_t asks = book.request().asks.size();
  ASSERT_GT(asks, 0U);
  book.start(worker(1), 1, small());
  EXPECT_EQ(book.request().asks.size(), asks);
  answer(book, {});
  EXPECT_EQ(book.request().asks.size(), asks);  // those of the other
  answer(book, {});
  EXPECT_THAT(book.request().asks, IsEmpty());
}

TEST_F(ContainerBookTest, ARestartedResourceManagerIsAskedForAllAgain) {
  ContainerBook book(options(1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  answer(book, {});
  EXPECT_FALSE(book.has_more_to_ask());
  book.on_restarted();
  EXPECT_TRUE(book.has_more_to_ask());
  EXPECT_THAT(book.request().asks, testing::Not(IsEmpty()));
}

TEST_F(ContainerBookTest, NothingOfARefusedRequestIsAskedAgain) {
  ContainerBook book(options(1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  (void)book.request();
  book.on_refused();
  EXPECT_THAT(book.request().asks, IsEmpty());
  // A container that YARN grants all the same goes back.
  answer(book, {container_for(7, 0)});
  EXPECT_THAT(take(book), IsEmpty());
  EXPECT_THAT(released(book), ElementsAre(7));
}

TEST_F(ContainerBookTest, AStopTakesAnAskBack) {
  ContainerBook book(options(1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  answer(book, {});
  take(book);
  EXPECT_TRUE(book.stop(worker(0), 1, kStart));
  EXPECT_THAT(take(book), ElementsAre("ended worker:0/1 stopped: was stopped: it had not begun"));
  EXPECT_FALSE(book.stop(worker(0), 1, kStart));
  // It comes all the same: nobody wants it.
  answer(book, {container_for(7, 0)});
  EXPECT_THAT(take(book), IsEmpty());
  EXPECT_THAT(released(book), ElementsAre(7));
}

TEST_F(ContainerBookTest, AStopGoesToTheNodeAndToTheResourceManager) {
  ContainerBook book = running();
  EXPECT_TRUE(book.stop(worker(0), 1, kStart));
  EXPECT_THAT(take(book), ElementsAre("stop 7 on node-1"));
  EXPECT_THAT(released(book), ElementsAre(7));
  answer(book, {}, {completed(container_id(7), hadoop::kExitKilledByMaster)});
  EXPECT_THAT(take(book), ElementsAre(HasSubstr("ended worker:0/1")));
  EXPECT_FALSE(book.stop(worker(0), 1, kStart));
}

TEST_F(ContainerBookTest, ASecondStopIsSaidAgain) {
  ContainerBook book = running();
  EXPECT_TRUE(book.stop(worker(0), 1, kStart));
  answer(book, {});  // the ResourceManager has heard of it, the node may not have
  EXPECT_TRUE(book.stop(worker(0), 1, kStart));
  EXPECT_THAT(take(book), ElementsAre("stop 7 on node-1", "stop 7 on node-1"));
  EXPECT_THAT(released(book), ElementsAre(7));
  answer(book, {}, {completed(container_id(7), hadoop::kExitKilledByMaster)});
  EXPECT_THAT(take(book), SizeIs(1));
}

TEST_F(ContainerBookTest, AStopIsForOneAttempt) {
  ContainerBook book = running();
  EXPECT_FALSE(book.stop(worker(0), 2, kStart));
  book.start(worker(0), 2, small());
  EXPECT_TRUE(book.stop(worker(0), 1, kStart));
  EXPECT_THAT(take(book), ElementsAre("stop 7 on node-1"));
}

TEST_F(ContainerBookTest, AnAgentThatGaveUpTellsTheEndOfItsRun) {
  ContainerBook book = running();
  hadoop::ContainerStatus ended = completed(container_id(7), 1);
  ended.diagnostics =
      "[2026-01-31 12:00:00.001]Container exited with a non-zero exit code 1.\n"
      "Last 4096 bytes of stderr :\n" +
      job::to_text({.why = "no master has answered for 60 s",
                    .lost_master = true,
                    .run = job::RunEnd{.attempt = 2, .report = {.success = true}}}) +
      "\ngangrun-agent job_1-worker-0: no master has answered for 60 s\n\n";
  answer(book, {}, {ended});
  EXPECT_THAT(take(book), ElementsAre("ended worker:0/1 master_lost: lost its master: no master "
                                      "has answered for 60 s; its run 2 succeeded"));
}

TEST_F(ContainerBookTest, AnEndIsToldOnceWithItsReason) {
  ContainerBook book = running();
  answer(book, {}, {completed(container_id(7), hadoop::kExitPreempted)});
  EXPECT_THAT(take(book), ElementsAre(HasSubstr("ended worker:0/1 preempted")));
  answer(book, {}, {completed(container_id(7), hadoop::kExitPreempted)});
  EXPECT_THAT(take(book), IsEmpty());
  EXPECT_FALSE(book.has(container_id(7)));
}

TEST_F(ContainerBookTest, WhatANodeDoesNotTakeHasEndedAndGoesBack) {
  ContainerBook book = running();
  book.on_not_started(container_id(7), base::unavailable("no answer"), kStart);
  EXPECT_THAT(take(book), ElementsAre("ended worker:0/1 container_lost: lost its container: "
                                      "its node refused it: no answer"));
  EXPECT_THAT(released(book), ElementsAre(7));
  // YARN tells of its end, too.
  answer(book, {}, {completed(container_id(7), hadoop::kExitKilledByMaster)});
  EXPECT_THAT(take(book), IsEmpty());
}

TEST_F(ContainerBookTest, ARefusalAfterTheEndSaysNothing) {
  ContainerBook book = running();
  answer(book, {}, {completed(container_id(7), hadoop::kExitAborted)});
  take(book);
  book.on_not_started(container_id(7), base::unavailable("no answer"), kStart);
  EXPECT_THAT(take(book), IsEmpty());
  EXPECT_THAT(released(book), IsEmpty());
}

TEST_F(ContainerBookTest, WithoutATokenForItsNodeNothingCanBeStarted) {
  ContainerBook book(options(1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  answer(book, {container_for(7, 0, {"node-2", 1})});
  EXPECT_THAT(take(book),
              ElementsAre("allocated worker:0/1 node-2",
                          "ended worker:0/1 container_lost: lost its container: YARN gave no "
                          "token for its node"));
  EXPECT_THAT(released(book), ElementsAre(7));
}

TEST_F(ContainerBookTest, ATokenMayComeWithTheContainer) {
  ContainerBook book(options(1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  (void)book.request();
  hadoop::AllocateResponse response;
  response.allocated = {container_for(7, 0, {"node-2", 1})};
  response.node_tokens = {{{"node-2", 1}, {}}};
  book.on_allocated(response, kStart);
  EXPECT_THAT(take(book), ElementsAre("allocated worker:0/1 node-2", "start worker:0 in 7"));
}

TEST_F(ContainerBookTest, AnAdoptedContainerIsAsIfItHadBeenStarted) {
  ContainerBook book(options(1));
  book.adopt(worker(0), 2, handle(7), kStart);
  book.release_others();
  book.on_registered(registered({container_for(7, 0)}));
  for (int i = 0; i < 2 * kLooksForAdopted; ++i) answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
  EXPECT_THAT(released(book), IsEmpty());
  EXPECT_TRUE(book.stop(worker(0), 2, kStart));
  EXPECT_THAT(take(book), ElementsAre("stop 7 on node-1"));
}

TEST_F(ContainerBookTest, ANodeMayTellOfAnAdoptedContainerLater) {
  ContainerBook book(options(1));
  book.adopt(worker(0), 2, handle(7), kStart);
  book.release_others();
  book.on_registered(registered());
  for (int i = 1; i < kLooksForAdopted; ++i) answer(book, {});
  (void)book.request();
  hadoop::AllocateResponse response;
  response.from_earlier_attempts = {container_for(7, 0)};
  book.on_allocated(response, kStart);
  for (int i = 0; i < kLooksForAdopted; ++i) answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
}

TEST_F(ContainerBookTest, AnAdoptedContainerThatNobodyTellsOfIsGone) {
  ContainerBook book(options(1));
  book.adopt(worker(0), 2, handle(7), kStart);
  book.on_registered(registered());
  for (int i = 1; i < kLooksForAdopted; ++i) answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
  answer(book, {});
  EXPECT_THAT(take(book), ElementsAre("ended worker:0/2 container_lost: lost its container: it "
                                      "ended before a new master came"));
  answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
}

TEST_F(ContainerBookTest, AnEndFromBeforeTheAdoptionIsTheEnd) {
  ContainerBook book(options(1));
  book.adopt(worker(0), 2, handle(7), kStart);
  book.on_registered(registered());
  answer(book, {}, {completed(container_id(7), hadoop::kExitPreempted)});
  EXPECT_THAT(take(book), ElementsAre(HasSubstr("ended worker:0/2 preempted")));
  for (int i = 0; i < kLooksForAdopted; ++i) answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
}

TEST_F(ContainerBookTest, AHandleThatSaysNothingIsALostContainer) {
  ContainerBook book(options(1));
  for (const char* key : {"container", "node", "node_port"}) {
    base::Json broken = handle(7);
    broken.erase(key);
    book.adopt(worker(0), 2, broken, kStart);
    EXPECT_THAT(take(book), ElementsAre(HasSubstr("ended worker:0/2 container_lost")));
  }
  base::Json other = handle(7);
  other["container"] = "job-1";
  book.adopt(worker(0), 2, other, kStart);
  EXPECT_THAT(take(book), ElementsAre(HasSubstr("the new master does not know it")));
}

TEST_F(ContainerBookTest, AStopBeforeTheRegistrationIsForTheResourceManager) {
  ContainerBook book(options(1));
  book.adopt(worker(0), 2, handle(7), kStart);
  EXPECT_TRUE(book.stop(worker(0), 2, kStart));
  EXPECT_THAT(take(book), IsEmpty());  // there is no token for the node yet
  book.on_registered(registered({container_for(7, 0)}));
  EXPECT_THAT(released(book), ElementsAre(7));
}

TEST_F(ContainerBookTest, WhatNobodyAdoptedGoesWhenThatIsSettled) {
  ContainerBook book(options(1));
  book.on_registered(registered({container_for(7, 0), container_for(8, 0), container_for(9, 0)}));
  EXPECT_THAT(released(book), IsEmpty());
  answer(book, {}, {completed(container_id(9), 0)});
  // Adopted after it has been seen: ours, and not looked for.
  book.adopt(worker(0), 1, handle(8), kStart);
  book.release_others();
  EXPECT_THAT(released(book), ElementsAre(7));
  for (int i = 0; i < kLooksForAdopted; ++i) answer(book, {});
  EXPECT_THAT(take(book), IsEmpty());
}

TEST_F(ContainerBookTest, WhatTurnsUpAfterThatGoesAtOnce) {
  ContainerBook book(options(1));
  book.release_others();
  book.on_registered(registered({container_for(7, 0)}));
  EXPECT_THAT(released(book), ElementsAre(7));
}

TEST_F(ContainerBookTest, ANoticeIsRepeatedWhenItsTimeIsOver) {
  ContainerBook::Options with = options(1);
  with.preemption_wait = seconds(15);
  with.longest_poll = seconds(1);
  ContainerBook book(with);
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  answer(book, {container_for(7, 0)});
  take(book);
  const auto mark = [&book](base::Instant now) {
    (void)book.request();
    hadoop::AllocateResponse response;
    response.preempted = {container_id(7), container_id(99)};
    book.on_allocated(response, now);
  };
  mark(kStart);
  // It may have been marked when we had just asked.
  EXPECT_THAT(take(book), ElementsAre("notice worker:0/1 14000"));
  mark(kStart + seconds(1));
  mark(kStart + seconds(28));
  EXPECT_THAT(take(book), IsEmpty());
  mark(kStart + seconds(29));
  EXPECT_THAT(take(book), ElementsAre("notice worker:0/1 43000"));
}

TEST_F(ContainerBookTest, AShortWaitIsOverAtOnce) {
  ContainerBook::Options with = options(1);
  with.preemption_wait = milliseconds(200);
  with.longest_poll = seconds(1);
  ContainerBook book(with);
  book.adopt(worker(0), 1, handle(7), kStart);
  (void)book.request();
  hadoop::AllocateResponse response;
  response.preempted = {container_id(7)};
  book.on_allocated(response, kStart);
  EXPECT_THAT(take(book), ElementsAre("notice worker:0/1 0"));
}

TEST_F(ContainerBookTest, ATaskThatYarnCannotPlaceIsAskedForAgain) {
  ContainerBook book(options(1));
  book.on_registered(registered());
  book.start(worker(0), 1, small());
  (void)book.request();
  hadoop::AllocateResponse response;
  response.rejected.push_back(0);
  book.on_allocated(response, kStart);
  EXPECT_FALSE(book.has_more_to_ask());
  book.on_time(kStart + kRejectedPause);
  EXPECT_TRUE(book.has_more_to_ask());
}

}  // namespace
}  // namespace gangrun::yarn
