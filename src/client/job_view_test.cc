#include "client/job_view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/json.h"
#include "base/unique_fd.h"

namespace gangrun::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

job::JobStatus two_workers() {
  job::JobStatus status;
  status.id = "hello-20260131-120000-0001";
  status.tasks.resize(2);
  status.tasks[0].task = {"worker", 0};
  status.tasks[1].task = {"worker", 1};
  return status;
}

TEST(News, TellsTheJobsWay) {
  job::JobStatus now = two_workers();
  now.waiting_for = "a place for worker:0, worker:1 (0 of 2 tasks have one)";
  EXPECT_THAT(news(nullptr, now, false),
              ElementsAre("allocating, waiting for a place for worker:0, worker:1 (0 of 2 tasks "
                          "have one)"));
  job::JobStatus before = now;
  EXPECT_THAT(news(&before, now, false), IsEmpty());
  now.state = job::JobState::kRunning;
  EXPECT_THAT(news(&before, now, false), IsEmpty()) << "told when all have started";
  now.all_started_ms = 40;
  EXPECT_THAT(news(&before, now, false),
              ElementsAre("running: all tasks started 40 ms after the command"));
}

TEST(News, TellsFailuresAndRestartsAndWithVerboseEverything) {
  const job::JobStatus before = two_workers();
  job::JobStatus now = before;
  now.tasks[0].state = job::TaskState::kRunning;
  now.tasks[1].state = job::TaskState::kFailed;
  now.tasks[1].exit = job::Why{.reason = job::Reason::kExitStatus, .code = 3};
  EXPECT_THAT(news(&before, now, false), ElementsAre("worker:1 failed: exited with status 3"));
  EXPECT_THAT(news(&before, now, true),
              ElementsAre("worker:0 running", "worker:1 failed: exited with status 3"));
  now = before;
  now.tasks[0].attempt = 2;
  EXPECT_THAT(news(&before, now, false), ElementsAre("worker:0 waiting (run 2)"));
  now.tasks[0].exit = job::Why{.reason = job::Reason::kSignal, .signal = 9};
  EXPECT_THAT(news(&before, now, false), ElementsAre("worker:0 waiting (run 2)"));
  now = before;
  now.tasks[0].state = job::TaskState::kRegistered;
  now.tasks[0].exit = job::Why{.reason = job::Reason::kStopped, .signal = 15};
  EXPECT_THAT(news(&before, now, true), ElementsAre("worker:0 registered"));
}

// "stopping, waiting for worker:0" came first, and the failure of a script that is not there last.
TEST(News, TheFirstCauseComesFirst) {
  job::JobStatus before = two_workers();
  before.state = job::JobState::kRunning;
  before.all_started_ms = 40;
  job::JobStatus now = before;
  now.state = job::JobState::kStopping;
  now.waiting_for = "worker:0";
  for (job::TaskStatus& task : now.tasks) {
    task.state = job::TaskState::kFailed;
    task.exit = job::Why{.reason = job::Reason::kExitStatus, .code = 2};
  }
  now.cause = job::Cause{.task = now.tasks[1].task, .why = *now.tasks[1].exit};
  EXPECT_THAT(news(&before, now, false), ElementsAre("worker:1 failed: exited with status 2",
                                                     "worker:0 failed: exited with status 2",
                                                     "stopping, waiting for worker:0"));
}

TEST(News, AllHaveStartedOnce) {
  job::JobStatus before = two_workers();
  before.state = job::JobState::kRollCall;
  before.all_started_ms = 40;
  job::JobStatus now = before;
  now.state = job::JobState::kRunning;
  EXPECT_THAT(news(&before, now, false), ElementsAre("running again"));
}

// A console whose output can be read.
class ViewTest : public testing::Test {
 protected:
  ViewTest() {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (::pipe2(out.data(), O_CLOEXEC | O_NONBLOCK) == 0 &&
        ::pipe2(err.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
      out_.reset(out[0]);
      err_.reset(err[0]);
      console_.emplace(Console::Options{out[1], err[1], true});
      ends_[0].reset(out[1]);
      ends_[1].reset(err[1]);
    }
  }
  static std::string read(const base::UniqueFd& fd) {
    std::string text(65536, '\0');
    const ssize_t got = ::read(fd.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  base::UniqueFd out_;
  base::UniqueFd err_;
  std::array<base::UniqueFd, 2> ends_;
  std::optional<Console> console_;
};

TEST_F(ViewTest, OutputOfTasksKeepsItsStreams) {
  const auto view = make_view(*console_, {.prefix_width = 9});
  view->started(two_workers());
  EXPECT_EQ(read(out_), "");
  EXPECT_THAT(read(err_), HasSubstr("gangrun: hello-20260131-120000-0001 with 2 tasks\n"));
  view->lines({{{"worker", 0}, false, "hi"}, {{"worker", 1}, true, "\x1b[1moh\x1b[0m"}});
  EXPECT_EQ(read(out_), "worker:0  | hi\n");
  EXPECT_EQ(read(err_), "worker:1  | oh\n");
}

// It said where they connect, and not that somebody has to bring them.
TEST_F(ViewTest, WhoBringsTheTasksThatComeByThemselvesIsToldAtOnce) {
  const JoinPlace place{.host = "10.0.0.7",
                        .port = 4711,
                        .fingerprint = "f",
                        .secret_file = "/s",
                        .limit = std::chrono::minutes(10)};
  make_view(*console_, {})->joinable(place);
  EXPECT_EQ(read(err_),
            "gangrun: waits up to 10 min for a Spark application that brings its tasks "
            "(gangrun.spark in Python); they connect to 10.0.0.7:4711\n");
  make_view(*console_, {.json = true})->joinable(place);
  EXPECT_EQ(read(out_),
            R"({"event":"join","host":"10.0.0.7","port":4711,"fingerprint":"f","secret_file":"/s"})"
            "\n");
}

TEST_F(ViewTest, QuietSaysNothingOfASuccess) {
  const auto view = make_view(*console_, {.quiet = true, .prefix_width = 9});
  job::JobStatus status = two_workers();
  view->started(status);
  status.state = job::JobState::kSucceeded;
  view->finished(status, 0);
  EXPECT_EQ(read(err_), "");
  status.state = job::JobState::kFailed;
  view->finished(status, 1);
  EXPECT_THAT(read(err_), HasSubstr("failed"));
}

TEST_F(ViewTest, WhatWasJustShownIsNotToldAgain) {
  job::JobStatus status = two_workers();
  status.state = job::JobState::kFailed;
  status.cause = job::Cause{.task = status.tasks[0].task,
                            .why = {.reason = job::Reason::kExitStatus, .code = 1},
                            .last_lines = {"Traceback (most recent call last):", "KeyError: 'x'"},
                            .traceback = "Traceback (most recent call last):\nKeyError: 'x'\n"};
  const auto unseen = make_view(*console_, {.logs = false, .prefix_width = 8});
  unseen->finished(status, 1);
  EXPECT_THAT(read(err_), HasSubstr("gangrun:   | Traceback"));
  const auto view = make_view(*console_, {.prefix_width = 8});
  view->lines({{{"worker", 0}, true, "Traceback (most recent call last):"},
               {{"worker", 0}, true, "KeyError: 'x'"},
               {{"worker", 1}, false, "bye"}});
  EXPECT_THAT(read(err_), HasSubstr("worker:0 | Traceback"));
  view->finished(status, 1);
  const std::string told = read(err_);
  EXPECT_THAT(told, HasSubstr("gangrun: worker:0 exited with status 1\n"));
  EXPECT_THAT(told, HasSubstr("gangrun:   | KeyError: 'x'\n"));
  EXPECT_THAT(told, testing::Not(HasSubstr("Traceback (")));
}

TEST_F(ViewTest, JsonIsOneObjectALine) {
  ViewOptions options;
  options.url = "http://rm:8088/proxy/application_1_0001/";
  options.json = true;
  const auto view = make_view(*console_, options);
  job::JobStatus status = two_workers();
  status.state = job::JobState::kRunning;
  view->changed(status);
  status.elapsed_ms = 5;
  view->changed(status);
  status.state = job::JobState::kFailed;
  view->finished(status, 1);
  const std::string text = read(out_);
  std::vector<base::Json> objects;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    objects.push_back(*base::parse_json(text.substr(at, end - at), 100'000));
    at = end + 1;
  }
  ASSERT_EQ(objects.size(), 2U) << text;
  EXPECT_EQ(objects[0]["event"], "status");
  EXPECT_EQ(objects[0]["status"]["state"], "running");
  EXPECT_EQ(objects[0]["status"]["url"], options.url);
  EXPECT_EQ(objects[1]["event"], "end");
  EXPECT_EQ(objects[1]["status"]["url"], options.url);
  EXPECT_EQ(objects[1]["exit_status"], 1);
}

TEST_F(ViewTest, AReaderThatIsGoneEndsThePrintingOnly) {
  ::signal(SIGPIPE, SIG_IGN);
  out_.reset();
  console_->out("x");
  EXPECT_FALSE(console_->out_is_open());
  console_->out("y");
  console_->err("z");
  EXPECT_EQ(read(err_), "z");
}

TEST(ReplaceFrame, TheFirstOneOnlyWrites) {
  EXPECT_EQ(replace_frame({}, {}, {Line("a"), Line("b")}, 80, false), "a\x1b[K\nb\x1b[K\n\x1b[J");
}

TEST(ReplaceFrame, GoesBackOverTheLastOne) {
  const Lines shown = {Line("one"), Line("two")};
  EXPECT_EQ(replace_frame(shown, {Line("said")}, {Line("x")}, 80, false),
            "\x1b[2A\rsaid\x1b[K\nx\x1b[K\n\x1b[J");
}

TEST(ReplaceFrame, CountsTheRowsOfANarrowerTerminal) {
  const Lines shown = {Line("0123456789"), Line("01234"), Line("")};
  EXPECT_TRUE(replace_frame(shown, {}, {}, 5, false).starts_with("\x1b[4A\r"));
  EXPECT_TRUE(replace_frame(shown, {}, {}, 4, false).starts_with("\x1b[6A\r"));
  EXPECT_TRUE(replace_frame(shown, {}, {}, 0, false).starts_with("\x1b[3A\r"));
}

}  // namespace
}  // namespace gangrun::client
