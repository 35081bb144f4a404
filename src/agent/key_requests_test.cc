#include "agent/key_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format.h"

namespace gangrun::agent {
namespace {

using testing::HasSubstr;
using wire::KeyAction;

KeyRun run() {
  return {.attempt = 3,
          .generation = 2,
          .processes = 2,
          .tasks = 3,
          .tracked = {{"worker", 3, {}}},
          .all = 4};
}

net::HttpRequest request(std::string method, std::string path,
                         std::map<std::string, std::string> query = {}, std::string body = "") {
  net::HttpRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.query = std::move(query);
  request.body = std::move(body);
  return request;
}

base::Result<KeyRequest> read(std::string method, std::string path,
                              std::map<std::string, std::string> query = {},
                              std::string body = "") {
  return key_request(request(std::move(method), std::move(path), std::move(query), std::move(body)),
                     run());
}

TEST(KeyRequestsTest, KeysAreRead) {
  const auto put = read("PUT", "/kv/a/b", {}, std::string("\0x", 2));
  ASSERT_TRUE(put.ok());
  EXPECT_EQ(put->key->action, KeyAction::kPut);
  EXPECT_EQ(put->key->key, "a/b");
  EXPECT_EQ(put->key->value, std::string("\0x", 2));
  EXPECT_EQ(put->key->attempt, 3);
  EXPECT_TRUE(put->is_change());
  EXPECT_EQ(read("GET", "/kv/a")->key->action, KeyAction::kGet);
  EXPECT_EQ(read("DELETE", "/kv/a")->key->action, KeyAction::kDelete);
  const auto wait = read("GET", "/kv/a", {{"wait", "1.5"}});
  EXPECT_EQ(wait->key->action, KeyAction::kWait);
  EXPECT_EQ(wait->wait, std::chrono::milliseconds(1500));
  const auto list = read("GET", "/kv", {{"prefix", "a"}, {"after", "ab"}});
  EXPECT_EQ(list->key->action, KeyAction::kList);
  EXPECT_EQ(list->key->key, "a");
  EXPECT_EQ(list->key->after, "ab");
}

TEST(KeyRequestsTest, BarriersAreRead) {
  const auto all = read("POST", "/barrier/b");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all->barrier, (wire::BarrierQuestion{.name = "b",
                                                  .generation = 2,
                                                  .tasks = 3,
                                                  .process = 0,
                                                  .processes = 2,
                                                  .round = 0,
                                                  .of = 3,
                                                  .tracked = true}));
  EXPECT_EQ(all->wait, kDefaultKeyWait);
  const auto some =
      read("POST", "/barrier/b", {{"tasks", "2"}, {"process", "1"}, {"timeout", "0"}});
  EXPECT_EQ(some->barrier->tasks, 2);
  EXPECT_EQ(some->barrier->of, 4);
  EXPECT_FALSE(some->barrier->tracked);
  EXPECT_EQ(some->barrier->process, 1);
  EXPECT_EQ(some->wait, std::chrono::milliseconds(0));
  KeyRun all_tracked = run();
  all_tracked.all = 3;
  const auto three = key_request(request("POST", "/barrier/b", {{"tasks", "3"}}), all_tracked);
  EXPECT_TRUE(three->barrier->tracked);
}

TEST(KeyRequestsTest, WhatIsWrongIsNamed) {
  struct Case {
    net::HttpRequest request;
    const char* said;
  };
  const std::vector<Case> cases{
      {request("GET", "/kv/" + std::string(201, 'k')), "from 1 to 200 printable"},
      {request("GET", "/kv/a b"), "a b: must be"},
      {request("POST", "/kv/a"), "POST /kv/a: the methods here are GET, HEAD, PUT, DELETE"},
      {request("PUT", "/kv"), "the methods here are GET"},
      {request("GET", "/kv/a", {{"wait", "soon"}}), "wait=soon: must be seconds"},
      {request("GET", "/kv/a", {{"wait", "-1"}}), "wait=-1"},
      {request("GET", "/kv/a", {{"wait", "nan"}}), "wait=nan"},
      {request("GET", "/kv/a", {{"timeout", "1"}}), "timeout: there is no such parameter"},
      {request("GET", "/kv", {{"prefix", "a b"}}), "a b"},
      {request("GET", "/barrier/b"), "the methods here are POST"},
      {request("POST", "/barrier/"), "'': must be from 1 to 200"},
      {request("POST", "/barrier/b", {{"tasks", "0"}}), "tasks=0: must be a number from 1"},
      {request("POST", "/barrier/b", {{"process", "2"}}),
       "process=2: must be a number from 0 to 1"},
      {request("GET", "/"), "/: there are /kv"},
  };
  for (const Case& each : cases) {
    const auto refused = key_request(each.request, run());
    ASSERT_FALSE(refused.ok()) << each.said;
    EXPECT_THAT(refused.error().message, HasSubstr(each.said));
  }
  net::HttpRequest twice = request("POST", "/barrier/b", {{"tasks", "2"}});
  twice.repeated = {"tasks"};
  EXPECT_EQ(key_request(twice, run()).error().message, "tasks: the parameter is given twice");
  EXPECT_TRUE(read("PUT", "/kv/a", {}, std::string(wire::kMaxValueBytes, 'x')).ok());
  const auto large = read("PUT", "/kv/a", {}, std::string(wire::kMaxValueBytes + 1, 'x'));
  EXPECT_EQ(large.error().code, base::Code::kResourceExhausted);
}

// It was a 400, without the methods in the head.
TEST(KeyRequestsTest, AnotherMethodIsToldThose) {
  const auto refusal = [](const net::HttpRequest& asked) {
    const auto response = key_refusal(asked, key_request(asked, run()).error());
    return base::format("{} {}", response.status, response.headers.get("Allow").value_or("-"));
  };
  EXPECT_EQ(refusal(request("POST", "/kv/a")), "405 GET, HEAD, PUT, DELETE");
  EXPECT_EQ(refusal(request("PATCH", "/kv")), "405 GET, HEAD");
  EXPECT_EQ(refusal(request("HEAD", "/barrier/b")), "405 POST");
  EXPECT_EQ(refusal(request("POST", "/kv/a b")), "405 GET, HEAD, PUT, DELETE");
  EXPECT_EQ(refusal(request("GET", "/kv/a b")), "400 -");
  EXPECT_EQ(refusal(request("POST", "/")), "404 -");
  EXPECT_EQ(refusal(request("PUT", "/kv/a", {}, std::string(wire::kMaxValueBytes + 1, 'x'))),
            "413 -");
}

TEST(KeyRequestsTest, AHeadIsAGet) {
  EXPECT_EQ(read("HEAD", "/kv/a")->key->action, KeyAction::kGet);
  EXPECT_EQ(read("HEAD", "/kv")->key->action, KeyAction::kList);
}

// It waited for its whole time, and the master was asked again and again without a pause.
TEST(KeyRequestsTest, ABarrierIsForNoMoreTasksThanThereAre) {
  EXPECT_EQ(read("POST", "/barrier/b", {{"tasks", "4"}})->barrier->tasks, 4);
  const auto refused = read("POST", "/barrier/b", {{"tasks", "5"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "tasks=5: the job has 4 tasks");
  KeyRun alone = run();
  alone.all = 1;
  EXPECT_EQ(key_request(request("POST", "/barrier/b", {{"tasks", "2"}}), alone).error().message,
            "tasks=2: the job has 1 task");
}

TEST(KeyRequestsTest, AnswersSayWhatIsThereAndWhatIsNot) {
  const auto get = *read("GET", "/kv/a");
  EXPECT_EQ(key_response(get, {.found = true, .value = "x"}).body, "x");
  EXPECT_EQ(key_response(get, {}).status, 404);
  const auto wait = *read("GET", "/kv/a", {{"wait", "2"}});
  const auto late = key_response(wait, {});
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.body, "no task has put a within 2.0 s\n");
  const auto list = *read("GET", "/kv");
  EXPECT_EQ(key_response(list, {.found = true, .keys = {"a", "b"}}).body,
            "{\"keys\":[\"a\",\"b\"],\"more\":false}\n");
}

TEST(KeyRequestsTest, ATimeOutNamesWhoHasNotCome) {
  const auto barrier = *read("POST", "/barrier/b", {{"timeout", "2"}});
  EXPECT_EQ(barrier_response(barrier, {.is_complete = true, .round = 4}, run()).body,
            "{\"round\":4}\n");
  const wire::BarrierAnswer answer{
      .is_complete = false, .round = 1, .come = {{"worker", 0}}, .partly = {{{"worker", 2}, 1}}};
  const auto late = barrier_response(barrier, answer, run());
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.body,
            "barrier b: 1 of 3 tasks had come after 2.0 s; missing: worker:1, worker:2 (1 of 2 "
            "processes has come)\n");
}

// All that had not come were missing, though two of four are enough.
TEST(KeyRequestsTest, ATimeOutSaysHowManyMoreAreNeededOfWhom) {
  KeyRun some = run();
  some.others = {{"board", 1, {}}};
  const auto told = [&](const char* tasks, std::vector<job::TaskId> come) {
    const auto barrier =
        *key_request(request("POST", "/barrier/b", {{"tasks", tasks}, {"timeout", "2"}}), some);
    return barrier_response(barrier, {.round = 1, .come = std::move(come)}, some).body;
  };
  EXPECT_EQ(told("2", {{"worker", 0}}),
            "barrier b: 1 of 2 tasks had come after 2.0 s; 1 more of these is needed: worker:1, "
            "worker:2, board:0\n");
  EXPECT_EQ(told("3", {{"board", 0}}),
            "barrier b: 1 of 3 tasks had come after 2.0 s; 2 more of these are needed: worker:0, "
            "worker:1, worker:2\n");
  EXPECT_EQ(told("4", {{"worker", 0}, {"worker", 2}}),
            "barrier b: 2 of 4 tasks had come after 2.0 s; missing: worker:1, board:0\n");
  EXPECT_EQ(told("1", {{"worker", 0}}),
            "barrier b: 1 of 1 task had come after 2.0 s, but not all at once: some had given up "
            "before others came\n");
}

// A task that had ended was named as one that may still come.
TEST(KeyRequestsTest, ATimeOutSaysWhoHasEnded) {
  KeyRun some = run();
  some.others = {{"board", 1, {}}};
  const auto told = [&](const char* tasks, std::vector<job::TaskId> gone) {
    const auto barrier =
        *key_request(request("POST", "/barrier/b", {{"tasks", tasks}, {"timeout", "2"}}), some);
    const wire::BarrierAnswer answer{.round = 1, .come = {{"worker", 0}}, .gone = std::move(gone)};
    return barrier_response(barrier, answer, some).body;
  };
  EXPECT_EQ(told("2", {{"worker", 1}}),
            "barrier b: 1 of 2 tasks had come after 2.0 s; 1 more of these is needed: worker:2, "
            "board:0; worker:1 has ended\n");
  EXPECT_EQ(told("2", {{"board", 0}, {"worker", 1}}),
            "barrier b: 1 of 2 tasks had come after 2.0 s; missing: worker:2; worker:1, board:0 "
            "have ended\n");
}

TEST(KeyRequestsTest, ATimeOutSaysWhereAllHadComeAndNotAtOnce) {
  const auto barrier = *read("POST", "/barrier/b", {{"timeout", "2"}});
  const wire::BarrierAnswer answer{.round = 1,
                                   .come = {{"worker", 0}, {"worker", 1}, {"worker", 2}}};
  EXPECT_EQ(barrier_response(barrier, answer, run()).body,
            "barrier b: 3 of 3 tasks had come after 2.0 s, but not all at once: some had given up "
            "before others came\n");
}

TEST(KeyRequestsTest, ABarrierThatCannotBeCompleteSaysWhoHasEnded) {
  const auto barrier = *read("POST", "/barrier/b");
  const auto gone = barrier_response(barrier, {.round = 1, .ended = "worker:1 was killed"}, run());
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(gone.body,
            "barrier b waits for 3 tasks, and so many cannot come any more: worker:1 was killed\n");
}

TEST(KeyRequestsTest, TheRunKnowsWhoIsTracked) {
  wire::AgentConfig config;
  config.task = {"worker", 5};
  config.attempt = 2;
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = 3;
  worker.processes = 2;
  job::TaskSpec board;
  board.type = "board";
  board.policy = job::Policy::kSidecar;
  config.spec.tasks = {worker, board};
  job::ClusterSpec spec;
  spec.generation = 4;
  spec.tasks["worker"] = {{"a", 1}, {"b", 1}};
  spec.members["worker"] = {0, 5};
  const KeyRun found = key_run_of(config, spec);
  EXPECT_EQ(found.attempt, 2);
  EXPECT_EQ(found.generation, 4);
  EXPECT_EQ(found.processes, 2);
  EXPECT_EQ(found.tasks, 2);
  EXPECT_EQ(found.all, 3);
  EXPECT_EQ(found.others.front().type, "board");
  const auto late =
      barrier_response(*key_request(request("POST", "/barrier/b"), found), {.round = 1}, found);
  EXPECT_THAT(late.body, HasSubstr("missing: worker:0, worker:5"));
}

}  // namespace
}  // namespace gangrun::agent
