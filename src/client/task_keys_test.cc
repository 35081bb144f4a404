#include "client/task_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/format.h"
#include "client/test_context.h"
#include "net/event_loop.h"
#include "net/server.h"
#include "wire/key_messages.h"

namespace gangrun::client {
namespace {

using base::Result;
using testing::ElementsAre;
using testing::HasSubstr;

// An agent that says yes to everything.
class TaskKeysTest : public testing::Test {
 protected:
  TaskKeysTest() : server_(loop_) {
    server_.on_request([this](const net::HttpRequest& request, net::Responder responder) {
      asked_.push_back(base::format("{} {} '{}'", request.method, request.path, request.body));
      responder.answer(answer_);
    });
    const auto port = server_.listen_loopback(0);
    EXPECT_TRUE(port.ok());
    test_.context().environment["GANGRUN_KV"] = base::format("127.0.0.1:{}", port.value_or(0));
    test_.context().environment["GANGRUN_TASK_TYPE"] = "worker";
  }

  Result<ExitStatus> act(const KvOptions& options) {
    return beside([&] { return use_keys(options, test_.context()); });
  }
  Result<ExitStatus> meet(const BarrierOptions& options) {
    return beside([&] { return wait_at_barrier(options, test_.context()); });
  }
  // The error of a put, or what the agent was asked.
  std::string put(const KvOptions& options) {
    asked_.clear();
    const auto status = act(options);
    if (!status.ok()) return status.error().message;
    return asked_.empty() ? "nothing" : asked_.front();
  }

  TestContext test_;
  net::HttpResponse answer_;
  std::vector<std::string> asked_;

 private:
  Result<ExitStatus> beside(const std::function<Result<ExitStatus>()>& work) {
    Result<ExitStatus> status = base::internal("not done");
    std::thread thread([&] {
      status = work();
      loop_.stop();
    });
    loop_.run();
    thread.join();
    return status;
  }

  net::EventLoop loop_;
  net::Server server_;
};

// It waited for standard input.
TEST_F(TaskKeysTest, AnEmptyValueIsOne) {
  EXPECT_EQ(put({.action = "put", .key = "k", .value = ""}), "PUT /kv/k ''");
  EXPECT_EQ(put({.action = "put", .key = "k", .words = {""}}), "PUT /kv/k ''");
  EXPECT_EQ(put({.action = "put", .words = {"k", ""}}), "PUT /kv/k ''");
}

TEST_F(TaskKeysTest, WordsAfterTheDashesHaveTheirPlaces) {
  EXPECT_EQ(put({.action = "put", .key = "k", .words = {"-"}}), "PUT /kv/k '-'");
  EXPECT_EQ(put({.action = "put", .words = {"-k", "--help"}}), "PUT /kv/-k '--help'");
  EXPECT_THAT(put({.action = "put", .key = "k", .value = "", .words = {"v"}}),
              HasSubstr("unexpected argument 'v'"));
  EXPECT_EQ(
      put({.action = "put", .key = "", .words = {"v"}}),
      "kv put: the KEY is empty; allowed: from 1 to 200 printable ASCII characters, no space");
}

// It waited for standard input.
TEST_F(TaskKeysTest, AKeyWithAnEqualsSignAndNoValueIsNoPut) {
  EXPECT_EQ(put({.action = "put", .key = "k=v"}),
            "'k=v' is given as KEY, and no VALUE; use gangrun kv put k v, or for standard input "
            "gangrun kv put k=v -");
  EXPECT_THAT(put({.action = "put", .key = "k="}), HasSubstr("use gangrun kv put k '', or"));
  EXPECT_THAT(put({.action = "put", .key = "k=-$"}), HasSubstr("use gangrun kv put k -- '-$', or"));
  EXPECT_EQ(put({.action = "put", .key = "k=two words"}),
            "'k=two words' is given as KEY, and no VALUE; use gangrun kv put KEY VALUE");
  EXPECT_THAT(put({.action = "put", .key = "=v"}), HasSubstr("use gangrun kv put KEY VALUE"));
  EXPECT_THAT(put({.action = "put", .words = {"k=v"}}), HasSubstr("use gangrun kv put k v, or"));
  EXPECT_EQ(put({.action = "put", .key = "k=v", .value = "w"}), "PUT /kv/k=v 'w'");
  EXPECT_EQ(put({.action = "put", .key = "k=v", .words = {"w"}}), "PUT /kv/k=v 'w'");
  EXPECT_EQ(put({.action = "get", .key = "k=v"}), "GET /kv/k=v ''");
}

TEST_F(TaskKeysTest, OnlyAPutTakesAValue) {
  for (const char* action : {"get", "wait", "delete"}) {
    EXPECT_EQ(put({.action = action, .key = "k", .value = ""}),
              base::format("kv {} takes no VALUE", action));
    EXPECT_EQ(put({.action = action}), base::format("kv {} needs a KEY", action));
  }
  EXPECT_THAT(asked_, testing::IsEmpty());
}

TEST_F(TaskKeysTest, ABarrierIsAskedForByItsProcess) {
  test_.context().environment["GANGRUN_PROCESS"] = "2";
  ASSERT_TRUE(meet({.name = "b"}).ok());
  EXPECT_THAT(asked_, ElementsAre("POST /barrier/b ''"));
}

TEST_F(TaskKeysTest, WhatIsWrongOfABarrierIsToldAsItWasGiven) {
  EXPECT_EQ(meet({.name = ""}).error().message,
            base::format("'' cannot be a barrier's name; allowed: {}", wire::kKeyForm));
  answer_ = {400, "text/plain; charset=utf-8", {}, "tasks=3: the job has 2 tasks\n"};
  EXPECT_EQ(meet({.name = "b", .tasks = "3"}).error().message, "--tasks 3: the job has 2 tasks");
}

// One message had 365 d, and another 168 h.
TEST_F(TaskKeysTest, ATimeToWaitHasOneLimit) {
  for (const char* timeout : {"8d", "400 d", "1 x"}) {
    const auto late = act({.action = "wait", .key = "k", .timeout = timeout});
    ASSERT_FALSE(late.ok());
    EXPECT_THAT(late.error().message, HasSubstr(", at most 7 d, "));
    EXPECT_THAT(late.error().message, testing::StartsWith("--timeout: "));
  }
}

TEST_F(TaskKeysTest, AnAgentThatDoesNotAnswerIsNamed) {
  test_.context().environment["GANGRUN_KV"] = "127.0.0.1:1";
  EXPECT_THAT(put({.action = "put", .key = "k", .value = "v"}),
              HasSubstr("the task's agent at GANGRUN_KV=127.0.0.1:1 does not answer: "));
}

TEST_F(TaskKeysTest, TheSentenceOfTheAgentIsTheError) {
  answer_ = {503, "text/plain; charset=utf-8", {}, "no master\n"};
  EXPECT_EQ(put({.action = "put", .key = "k", .value = "v"}), "no master");
}

// The task seemed to have come.
TEST_F(TaskKeysTest, ACommandBesideATaskHasKeysAndNoBarriers) {
  test_.context().environment["GANGRUN_EXEC"] = "5f0c";
  const auto status = meet({.name = "b"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kFailedPrecondition);
  EXPECT_EQ(status.error().message,
            "a barrier is for the processes of a task, and not for a command beside it (gangrun "
            "exec), which would count as one of them");
  EXPECT_EQ(put({.action = "put", .key = "k", .value = "v"}), "PUT /kv/k 'v'");
}

}  // namespace
}  // namespace gangrun::client
