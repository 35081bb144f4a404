#include "kubernetes/pods/pod_notices.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/test_deadline.h"
#include "base/unique_fd.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/test_idle_client.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Code;
using base::Error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kCatchesUsr1 = "0000000180000200";
constexpr const char* kCatchesOthers = "fffffffe7ffbfdff";
// Linux gives no process so large a number.
constexpr int kNobody = 1 << 23;

// A process that ends by the first signal that it gets.
class Bystander {
 public:
  Bystander() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() { (void)last_signal(); }
  [[nodiscard]] int pid() const { return pid_; }
  // The one that ended it; SIGKILL: none before this call.
  int last_signal() {
    if (signal_) return *signal_;
    (void)::kill(pid_, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return signal_.emplace(WTERMSIG(status));
  }

 private:
  pid_t pid_;
  std::optional<int> signal_;
};

// The command in a container whose processes are what the test says; in truth they are bystanders.
class NoticeCommandTest : public testing::Test {
 protected:
  NoticeCommandTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "notice-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write("proc/self/cgroup", "1:cpu:/pod/task\n0::/\n");
  }
  ~NoticeCommandTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void process(int pid, int parent, const std::string& caught, const std::string& group = "task") {
    write("proc/" + std::to_string(pid) + "/status", "Name:\tx y\nPPid:\t" +
                                                         std::to_string(parent) + "\nSigCgt:\t" +
                                                         caught + "\nThreads:\t1\n");
    write("proc/" + std::to_string(pid) + "/cgroup", "1:cpu:/pod/" + group + "\n0::/\n");
  }
  // Its exit status; its output is kept.
  int run(const std::vector<std::string>& command) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      (void)::dup2(ends[1], STDOUT_FILENO);
      (void)::close(ends[0]);
      ::execvp(words[0], words.data());
      ::_exit(125);
    }
    (void)::close(ends[1]);
    const base::UniqueFd reader(ends[0]);
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::read(reader.get(), piece.data(), piece.size())) > 0;) {
      output_.append(piece.data(), static_cast<std::size_t>(got));
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int run(job::NoticeSignal signal) {
    return run(notice_command(file(), signal, (folder_ / "proc").string()));
  }
  [[nodiscard]] std::string file() const { return (folder_ / "notice.json").string(); }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << std::ifstream(file()).rdbuf();
    return out.str();
  }
  static std::string signalled(const Bystander& who) {
    return "written\nsignal " + std::to_string(who.pid()) + "\n";
  }

  std::filesystem::path folder_;
  std::string output_;
};

TEST_F(NoticeCommandTest, TellsTheFirstBelowAShellThatCatchesTheSignal) {
  Bystander shell;
  Bystander trainer;
  Bystander helper;
  process(1, 0, kCatchesOthers);
  process(shell.pid(), 1, kCatchesOthers);
  process(trainer.pid(), shell.pid(), kCatchesUsr1);
  process(helper.pid(), trainer.pid(), kCatchesUsr1);
  EXPECT_EQ(run(job::NoticeSignal::kUsr1), 0);
  EXPECT_EQ(output_, signalled(trainer));
  EXPECT_EQ(trainer.last_signal(), SIGUSR1);
  EXPECT_EQ(shell.last_signal(), SIGKILL);
  EXPECT_EQ(helper.last_signal(), SIGKILL);
  EXPECT_EQ(text(), R"({"reason":"signal"})");
  struct stat found {};
  ASSERT_EQ(::stat(file().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0644U);
}

TEST_F(NoticeCommandTest, LeavesOthersThatShareTheProcessesOfThePodAlone) {
  std::array<Bystander, 5> made;
  std::array<Bystander*, 5> all{};
  std::ranges::transform(made, all.begin(), [](Bystander& one) { return &one; });
  std::ranges::sort(all, {}, [](const Bystander* one) { return one->pid(); });
  auto& [beside, command, trainer, below_beside, visitor] = all;
  process(1, 0, kCatchesUsr1, "pause");
  process(beside->pid(), 0, kCatchesUsr1, "proxy");
  process(command->pid(), 0, kCatchesOthers);
  process(trainer->pid(), command->pid(), kCatchesUsr1);
  process(below_beside->pid(), beside->pid(), kCatchesUsr1, "proxy");
  process(visitor->pid(), 0, kCatchesUsr1);
  EXPECT_EQ(run(job::NoticeSignal::kUsr1), 0);
  EXPECT_EQ(output_, signalled(*trainer));
  EXPECT_EQ(trainer->last_signal(), SIGUSR1);
  for (Bystander* other : {beside, command, below_beside, visitor}) {
    EXPECT_EQ(other->last_signal(), SIGKILL);
  }
}

TEST_F(NoticeCommandTest, SendsTheSignalOfTheJob) {
  Bystander trainer;
  process(1, 0, kCatchesUsr1);
  process(trainer.pid(), 1, "0000000000004000");
  process(2, 1, "");
  EXPECT_EQ(run(job::NoticeSignal::kTerm), 0);
  EXPECT_EQ(trainer.last_signal(), SIGTERM);
}

TEST_F(NoticeCommandTest, WritesTheFileAloneWhereNobodyIsToGetASignal) {
  process(1, 0, kCatchesOthers);
  EXPECT_EQ(run(job::NoticeSignal::kUsr1), 0);
  EXPECT_EQ(output_, "written\n");
  EXPECT_EQ(notice_command("/n", job::NoticeSignal::kNone).size(), 5U);
  EXPECT_EQ(run(job::NoticeSignal::kNone), 0);
  EXPECT_EQ(text(), R"({"reason":"signal"})");
}

TEST_F(NoticeCommandTest, AFileThatCannotBeWrittenIsAnError) {
  const std::string nowhere = (folder_ / "nowhere/notice.json").string();
  EXPECT_EQ(run(notice_command(nowhere, job::NoticeSignal::kUsr1)), 3);
  EXPECT_EQ(output_, "");
}

TEST_F(NoticeCommandTest, ASignalThatIsRefusedIsAnError) {
  process(1, 0, kCatchesOthers);
  process(kNobody, 1, kCatchesUsr1);
  EXPECT_EQ(run(job::NoticeSignal::kUsr1), 4);
}

TEST(NoticeAnswer, SaysWhyATaskHasNoNotice) {
  const auto reason = [](std::string_view output, const base::Result<int>& end) {
    return notice_answer(output, "sh: no\n", end).reason;
  };
  EXPECT_EQ(reason("written\nsignal 1\n", 0), "");
  EXPECT_EQ(notice_answer("written\nsignal 1\nsignal 7\n", "", 0).signals, 2);
  EXPECT_EQ(reason("", 3), "the command for it exited with status 3: sh: no");
  EXPECT_EQ(reason("written\nsignal 1\n", 4), "the command for it exited with status 4: sh: no");
  EXPECT_THAT(reason("", 127), HasSubstr("sh and mv"));
  EXPECT_THAT(reason("", Error{Code::kUnavailable,
                               "exec: \"sh\": executable file not found in $PATH: unknown"}),
              HasSubstr("sh and mv"));
  EXPECT_EQ(reason("", Error{Code::kNotFound, "pods \"p-1\" not found"}), "its pod is gone");
  EXPECT_THAT(reason("", base::deadline_exceeded("gave up on p-1")), HasSubstr("20 s"));
  EXPECT_EQ(reason("", Error{Code::kPermissionDenied, "ann has no right (pods \"p-1\" …)"}),
            "ann has no right");
}

TEST(NoticeAnswer, ACommandThatEndsWhenItIsToldHasItsNotice) {
  const Error broken{Code::kUnavailable, "the connection ended"};
  EXPECT_EQ(notice_answer("written\nsignal 1\n", "", broken).reason, "");
  EXPECT_EQ(notice_answer("written\nsignal 1\n", "", 137).reason, "");
  EXPECT_EQ(notice_answer("written\n", "", 137).reason, "");
  EXPECT_NE(notice_answer("written\n", "", broken).reason, "");
  EXPECT_NE(notice_answer("", "", 137).reason, "");
}

// A server whose commands end as the test says.
class ExecServer final : public kubernetes::IdleClient {
 public:
  struct Command {
    kubernetes::ExecRequest request;
    kubernetes::ExecCallbacks callbacks;
  };

  kubernetes::ActivityHandle exec(kubernetes::ExecRequest request, base::Instant,
                                  kubernetes::ExecCallbacks callbacks) override {
    commands.push_back({std::move(request), std::move(callbacks)});
    return std::make_unique<kubernetes::Activity>();
  }

  void end(std::size_t command, const base::Result<int>& status) {
    commands.at(command).callbacks.on_output("written\n");
    commands.at(command).callbacks.on_end(status);
  }

  std::deque<Command> commands;
};

class LostLog final : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

class PodNoticesTest : public testing::Test {
 protected:
  static Manifests manifests(int workers) {
    ManifestInput input = test::wine_job();
    input.spec.tasks.front().instances = workers;
    return Manifests::make(std::move(input)).value();
  }
  void give(int workers) {
    std::vector<job::TaskId> tasks;
    for (int i = 0; i < workers; ++i) tasks.push_back({"worker", i});
    notices_.give(tasks, "SIGUSR1");
  }
  void ask(int workers, std::chrono::milliseconds limit) {
    std::vector<job::TaskId> tasks;
    for (int i = 0; i < workers; ++i) tasks.push_back({"worker", i});
    notices_.give(tasks, "SIGUSR1", limit,
                  [this](const job::TaskId& task, const base::Result<>& told) {
                    told_.push_back(job::to_string(task) + ": " +
                                    (told.ok() ? "has it" : told.error().message));
                  });
  }
  void wait_for_told(std::size_t count) {
    ASSERT_TRUE(loop_.run_until([&] { return told_.size() == count; }, base::soon()));
  }
  void wait_for_commands(std::size_t count) {
    ASSERT_TRUE(loop_.run_until([&] { return server_.commands.size() == count; }, base::soon()));
  }
  void wait_for_end() {
    ASSERT_TRUE(loop_.run_until([&] { return failures_.has_value(); }, base::soon()));
  }

  net::EventLoop loop_;
  LostLog log_;
  ExecServer server_;
  Manifests manifests_ = manifests(40);
  std::optional<std::vector<std::string>> failures_;  // all that have been told
  std::vector<std::string> told_;                     // to whoever asked
  PodNotices notices_{loop_, log_, server_, manifests_,
                      [this](const std::vector<std::string>& failures) {
                        if (!failures_) failures_.emplace();
                        failures_->insert(failures_->end(), failures.begin(), failures.end());
                      }};
};

TEST_F(PodNoticesTest, RunsTheCommandInTheTasksContainersAFewAtATime) {
  give(40);
  EXPECT_EQ(server_.commands.size(), 16U);
  EXPECT_EQ(server_.commands[1].request.pod, "wine-20260131-120000-3fa1-worker-1");
  EXPECT_EQ(server_.commands[1].request.container, "task");
  EXPECT_EQ(server_.commands[1].request.name_space, "lab");
  EXPECT_EQ(server_.commands[1].request.command,
            notice_command(kPodNoticeFile, job::NoticeSignal::kUsr1));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_FALSE(failures_.has_value());
    server_.end(i, 0);
    if (i + 17 <= 40) wait_for_commands(i + 17);
  }
  wait_for_end();
  EXPECT_THAT(*failures_, IsEmpty());
}

TEST_F(PodNoticesTest, NamesThoseThatHaveNone) {
  give(9);
  for (std::size_t i = 0; i < 8; ++i) server_.end(i, i == 0 ? 0 : 3);
  server_.end(8, Error{Code::kNotFound, "pods \"x\" not found"});
  wait_for_end();
  EXPECT_THAT(*failures_,
              ElementsAre("SIGUSR1: no notice for worker:8: its pod is gone",
                          "SIGUSR1: no notice for worker:1, worker:2, worker:3, worker:4, worker:5 "
                          "and 2 more tasks: the command for it exited with status 3"));
}

TEST_F(PodNoticesTest, WhatIsForbiddenIsToldOnceAndNotTriedForAll) {
  give(40);
  for (std::size_t i = 0; i < 16; ++i) {
    server_.end(i, Error{Code::kPermissionDenied,
                         "no right to create pods/exec (pod " + std::to_string(i) + ")"});
  }
  wait_for_end();
  EXPECT_EQ(server_.commands.size(), 16U);
  ASSERT_EQ(failures_->size(), 1U);
  EXPECT_THAT(failures_->front(), HasSubstr("and 35 more tasks: no right to create pods/exec"));
}

TEST_F(PodNoticesTest, ATaskIsNotToldAgainWhileItIsBeingTold) {
  give(1);
  give(2);
  EXPECT_EQ(server_.commands.size(), 2U);
  server_.end(0, 0);
  server_.end(1, 0);
  wait_for_end();
  give(1);
  EXPECT_EQ(server_.commands.size(), 3U);
}

TEST_F(PodNoticesTest, WhoeverAsksHearsOfEachTaskWhenItIsTold) {
  ask(2, std::chrono::minutes(1));
  EXPECT_THAT(told_, IsEmpty());
  server_.end(1, 3);
  wait_for_told(1);
  EXPECT_THAT(told_, ElementsAre("worker:1: the command for it exited with status 3"));
  ask(1, std::chrono::minutes(1));
  EXPECT_EQ(server_.commands.size(), 2U) << "it is being told";
  server_.end(0, 0);
  wait_for_told(3);
  EXPECT_EQ(told_[1], "worker:0: has it");
  EXPECT_EQ(told_[2], "worker:0: has it");
  wait_for_end();
  EXPECT_THAT(*failures_, SizeIs(1));
}

TEST_F(PodNoticesTest, WhoeverAsksHearsOfWhatIsForbiddenForAll) {
  ask(40, std::chrono::minutes(1));
  server_.end(0, Error{Code::kPermissionDenied, "no right to create pods/exec (pod 0)"});
  wait_for_told(25);
  EXPECT_THAT(told_, testing::Each(HasSubstr(": no right to create pods/exec")));
}

TEST_F(PodNoticesTest, WhoeverAsksHearsAtItsLimitOfThoseThatAreNotToldYet) {
  ask(1, std::chrono::milliseconds(1));
  wait_for_told(1);
  EXPECT_THAT(told_, ElementsAre("worker:0: its pod was not told within 1 ms"));
  server_.end(0, 0);
  wait_for_end();
  EXPECT_THAT(told_, SizeIs(1)) << "once";
  EXPECT_THAT(*failures_, IsEmpty());
}

TEST_F(PodNoticesTest, WhoeverAsksHearsThatItIsGivenUp) {
  ask(2, std::chrono::minutes(1));
  notices_.clear();
  EXPECT_THAT(told_, ElementsAre("worker:0: the pods of its job are removed",
                                 "worker:1: the pods of its job are removed"));
}

TEST_F(PodNoticesTest, NobodyToTellIsAnEnd) {
  give(0);
  wait_for_end();
  EXPECT_THAT(*failures_, IsEmpty());
}

TEST_F(PodNoticesTest, NothingIsToldOfWhatIsGivenUp) {
  give(1);
  const auto late = server_.commands[0].callbacks;
  late.on_end(3);
  notices_.clear();
  give(0);
  wait_for_end();
  EXPECT_THAT(*failures_, IsEmpty());
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
