#include "ssh/keeper_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_described.h"
#include "job/described.h"
namespace gangrun::ssh {
namespace {

BroughtMessage brought_message() {
  return {{"big"}, 1,           std::uint64_t{1} << 40U, {{"pipe", "a FIFO"}},
          2,       {"log.txt"}, "it became shorter",     true};
}

std::vector<KeeperMessage> one_of_each() {
  const job::TaskId task{"worker", 3};
  HelloMessage hello;
  hello.version = "0.1.0";
  hello.network = "b:1";
  hello.address = "10.0.0.2";
  hello.address_reason = "as ssh reached it";
  hello.own_addresses = {"192.168.0.2", "fd00::2"};
  hello.shares_folder = true;
  hello.gpus = {job::GpuMaker::kNvidia, {{"GPU-1", "GPU-1", "", ""}}};
  hello.containment = job::Containment::kCgroup;
  hello.containment_lack = "user namespaces are forbidden";
  hello.engine = "/usr/bin/podman";
  hello.engine_lack = "none";
  hello.system = "Linux 6.1.0 x86_64";
  hello.folder = "/home/ann/.cache/gangrun";
  hello.free_bytes = std::int64_t{5} << 30U;
  BeginMessage begin;
  begin.job_id = "wine-1";
  begin.run_folder = "wine-1-ab";
  begin.address = "10.0.0.2";
  begin.address_reason = "why";
  begin.works_here = true;
  begin.outlives_us = true;
  begin.environment = {{"PATH", "/bin"}};
  StartMessage start;
  start.agent = 1;
  start.task = task;
  start.attempt = 2;
  start.gpus = 4;
  start.wanted_port = 4711;
  start.containers = {"c1"};
  start.agent_config = {{"job_id", "wine-1"}};
  AdoptMessage adopt;
  adopt.agent = 1;
  adopt.task = task;
  adopt.attempt = 2;
  adopt.handle = {{"pid", 7}};
  adopt.out_offset = std::uint64_t{1} << 40U;
  adopt.error_offset = 1;
  return {hello,
          begin,
          BegunMessage{"wine-1-ab"},
          FileMessage{"src/train.py", 12, true},
          FileMessage{"src/empty", 0, false, true},
          start,
          adopt,
          ReleaseOthersMessage{},
          StopMessage{1, std::chrono::milliseconds(1500)},
          PingMessage{},
          PongMessage{},
          BringMessage{{"model/", "log.txt"}, true, 1000},
          BringMessage{{}, true, 1000, "wine-1-ab", true},
          OutputMessage{"model/last", 0, false, "step-7", false},
          OutputMessage{"runs/first", 0, false, "", true},
          brought_message(),
          EndMessage{Kept::kWritten},
          RemoveMessage{"wine-1"},
          RemovedMessage{2, "wine-1-ab: its tasks live"},
          WaitingMessage{"other jobs hold GPUs"},
          AllocatedMessage{1, {{"pid", 7}}},
          EndedMessage{1, {.reason = job::Reason::kOutOfMemory, .signal = 9}, 7, 8},
          LogsTakenMessage{std::uint64_t{1} << 40U},
          LogsGoneMessage{{1, 7}, true},
          LeavingMessage{},
          RefusedMessage{"has no room"}};
}

TEST(KeeperMessages, ComeBack) {
  for (const KeeperMessage& message : one_of_each()) {
    const base::Json json = to_json(message);
    const auto again = keeper_message_from_json(json);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->index(), message.index()) << json;
    EXPECT_EQ(to_json(*again), json);
  }
}

// It replaced the client's own line on the terminal.
TEST(KeeperMessages, AreInTheDocumentAndTheFuzzersCorpus) {
  base::expect_in_document<KeeperMessage>("docs/protocols/ssh.md", "messages of a keeper");
  base::expect_samples_in_corpus<KeeperMessage>("op", "keeper/message");
}

TEST(KeeperMessages, AFolderIsAPathThatDoesNothingToATerminal) {
  for (const char* folder : {"", "tmp", "/tmp/a\rgangrun: succeeded", "/tmp/\x1b[2J", "/a\nb"}) {
    HelloMessage hello;
    hello.address = "10.0.0.1";
    hello.folder = folder;
    const auto read = keeper_message_from_json(to_json(KeeperMessage(hello)));
    ASSERT_FALSE(read.ok()) << folder;
    EXPECT_THAT(read.error().message, HasSubstr("hello: folder: "));
  }
}

// A keeper that has no job has no folder, agents or logs, and would look for them.
TEST(KeeperMessages, AreOfAJobIfTheyNeedOne) {
  std::vector<std::string> of_a_job;
  for (const KeeperMessage& message : one_of_each()) {
    if (is_of_a_job(message)) of_a_job.push_back(to_json(message).at("op").get<std::string>());
  }
  EXPECT_THAT(of_a_job,
              testing::UnorderedElementsAre("file", "file", "start", "adopt", "release_others",
                                            "stop", "bring", "end", "logs_taken"));
}

TEST(KeeperMessages, WhatIsBroughtIsWhatAnyOfTheTasksKeeps) {
  const BringMessage named = bring_message({{{"b", "a"}}, {{"b"}}}, 7);
  EXPECT_THAT(named.names, testing::ElementsAre("a", "b"));
  EXPECT_FALSE(named.new_too);
  EXPECT_EQ(named.limit, 7U);
  EXPECT_TRUE(bring_message({{{"a"}}, std::nullopt}, 7).new_too);
}

TEST(KeeperMessages, MayHaveNoPortThatIsWanted) {
  StartMessage start;
  start.task = {"worker", 0};
  start.agent_config = base::Json::object();
  const auto again = keeper_message_from_json(to_json(start));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(std::get<StartMessage>(*again).wanted_port, std::nullopt);
}

TEST(KeeperMessages, MissNothingAndHaveNothingElse) {
  for (const KeeperMessage& message : one_of_each()) {
    const base::Json whole = to_json(message);
    for (const auto& [key, value] : whole.items()) {
      if (key == "wanted_port") continue;
      base::Json part = whole;
      part.erase(key);
      EXPECT_FALSE(keeper_message_from_json(part).ok()) << whole << " without " << key;
    }
    base::Json more = whole;
    more["more"] = 1;
    EXPECT_FALSE(keeper_message_from_json(more).ok()) << more;
  }
}

TEST(KeeperMessages, AnUnknownOneIsRefusedByName) {
  const auto read = keeper_message_from_json({{"op", "dance"}});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "unknown message \"dance\"");
  EXPECT_FALSE(keeper_message_from_json(base::Json::array()).ok());
}

}  // namespace
}  // namespace gangrun::ssh
