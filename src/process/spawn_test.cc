#include "process/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/format.h"
#include "base/test_deadline.h"
#include "process/proc_fs.h"
#include "process/spawn_child.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

using base::Code;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  base::UniqueFd read;
  base::UniqueFd write;
};

std::string drain(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

struct Outcome {
  std::string output;
  Exit exit;
};

// Runs to the end and gives the output of both streams.
Outcome run(SpawnOptions options) {
  Pipe pipe;
  options.standard_output = pipe.write.get();
  options.standard_error = pipe.write.get();
  auto child = spawn(options);
  EXPECT_TRUE(child.ok()) << child.error().message;
  if (!child.ok()) return {};
  pipe.write.reset();
  Outcome outcome;
  outcome.output = drain(pipe.read.get());
  auto exit = child->wait(base::soon());
  EXPECT_TRUE(exit.ok());
  if (exit.ok()) outcome.exit = *exit;
  return outcome;
}

Outcome shell(const std::string& script, SpawnOptions options = {}) {
  options.argv = {"/bin/sh", "-c", script};
  return run(std::move(options));
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/tmp/gangrun-spawn-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  void file(const std::string& name, const std::string& content, mode_t mode) const {
    std::ofstream(path + "/" + name) << content;
    ::chmod((path + "/" + name).c_str(), mode);
  }
  std::string path;
};

TEST(Spawn, GivesOutputStatusAndUsage) {
  const Outcome outcome = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.output, "out\nerr\n");
  EXPECT_EQ(outcome.exit.to_words(), "exited with status 3");
}

TEST(Spawn, GivesTheEnvironmentAndNothingElse) {
  SpawnOptions options;
  options.argv = {"/usr/bin/env"};
  options.environment = {"A=1", "B=two words"};
  EXPECT_EQ(run(options).output, "A=1\nB=two words\n");
}

TEST(Spawn, TheOwnEnvironmentIsThatOfThisProcess) {
  ASSERT_EQ(::setenv("SPAWN_TEST", "a=b", 1), 0);
  EXPECT_THAT(inherited_environment(), testing::Contains("SPAWN_TEST=a=b"));
  ASSERT_EQ(::unsetenv("SPAWN_TEST"), 0);
  EXPECT_THAT(inherited_environment(), testing::Not(testing::Contains("SPAWN_TEST=a=b")));
}

TEST(Spawn, LooksForTheProgramInTheChildsPath) {
  const TemporaryFolder folder;
  folder.file("tool", "#!/bin/sh\necho found\n", 0755);
  SpawnOptions options;
  options.argv = {"tool"};
  options.environment = {"PATH=" + folder.path + "/none:" + folder.path};
  EXPECT_EQ(run(options).output, "found\n");
  options.environment = {"PATH=" + folder.path + "/none"};
  const auto missing = spawn(options);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("tool"), HasSubstr("PATH")));
}

TEST(Spawn, AFileThatMayNotBeRunDoesNotHideALaterOneInPath) {
  const TemporaryFolder first;
  const TemporaryFolder second;
  first.file("tool", "#!/bin/sh\necho first\n", 0644);
  second.file("tool", "#!/bin/sh\necho second\n", 0755);
  SpawnOptions options;
  options.argv = {"tool"};
  options.environment = {"PATH=" + first.path + ":" + second.path};
  EXPECT_EQ(run(options).output, "second\n");
}

TEST(Spawn, StartsInTheWorkingFolder) {
  const TemporaryFolder folder;
  folder.file("tool", "#!/bin/sh\npwd\n", 0755);
  SpawnOptions options;
  options.working_folder = folder.path;
  options.argv = {"./tool"};
  EXPECT_EQ(run(options).output, folder.path + "\n");
  options.working_folder = folder.path + "/none";
  const auto child = spawn(options);
  ASSERT_FALSE(child.ok());
  EXPECT_THAT(child.error().message, HasSubstr(folder.path + "/none"));
  EXPECT_EQ(child.error().code, base::Code::kFailedPrecondition) << "the program is there";
}

TEST(Spawn, NamesWhatCannotBeStartedAndWhy) {
  const TemporaryFolder folder;
  folder.file("plain", "echo\n", 0644);
  folder.file("script", "echo no first line\n", 0755);
  folder.file("lost", "#!" + folder.path + "/none/interpreter -x\n", 0755);
  folder.file("of windows", "#!/bin/sh\r\nexit\r\n", 0755);
  folder.file("for env", "#!/usr/bin/env python3\r\nexit\r\n", 0755);
  const auto error = [&](const std::string& program) {
    SpawnOptions options;
    options.argv = {program};
    auto child = spawn(options);
    return child.ok() ? base::Error{} : child.error();
  };
  EXPECT_EQ(error(folder.path + "/none").code, Code::kNotFound);
  EXPECT_THAT(error(folder.path + "/none").message, HasSubstr(folder.path + "/none"));
  EXPECT_EQ(error(folder.path + "/plain").code, Code::kPermissionDenied);
  EXPECT_THAT(error(folder.path + "/plain").message, HasSubstr("not executable"));
  folder.file("train.py", "print()\n", 0644);
  EXPECT_THAT(error(folder.path + "/train.py").message,
              HasSubstr("not executable for this user; use python3 " + folder.path));
  EXPECT_EQ(error(folder.path).code, Code::kPermissionDenied);
  EXPECT_THAT(error(folder.path).message, HasSubstr("is a folder"));
  EXPECT_THAT(error(folder.path + "/script").message, HasSubstr("#!"));
  EXPECT_THAT(error(folder.path + "/lost").message, HasSubstr(folder.path + "/none/interpreter"));
  for (const std::string name : {"of windows", "for env"}) {
    EXPECT_THAT(error(folder.path + "/" + name).message,
                HasSubstr("ends with a carriage return, as Windows writes lines; take them out by: "
                          "sed -i 's/\\r$//' '" +
                          folder.path + "/" + name + "'"));
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a failed start left a process";
}

TEST(Spawn, RefusesWhatNoProgramCanBeGiven) {
  SpawnOptions options;
  EXPECT_FALSE(spawn(options).ok());
  options.argv = {std::string("a\0b", 3)};
  EXPECT_FALSE(spawn(options).ok());
  options.argv = {"/bin/true", std::string(kMaxArgumentBytes, 'x')};
  EXPECT_FALSE(spawn(options).ok());
  options.argv = {"/bin/true"};
  options.inherited = {{.fd = 0, .as = 5}, {.fd = 1, .as = 5}};
  EXPECT_FALSE(spawn(options).ok());
  options.inherited = {{.fd = 0, .as = kMaxInheritedFd + 1}};
  EXPECT_FALSE(spawn(options).ok());
  options.inherited = {{.fd = 1000, .as = 7}};
  EXPECT_FALSE(spawn(options).ok()) << "descriptor 1000 is not open";
  options.inherited.clear();
  options.listen = {{.fd = 0, .name = "a:b"}};
  EXPECT_FALSE(spawn(options).ok());
}

std::string target_of(const base::UniqueFd& fd) {
  return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd.get())).string();
}

TEST(Spawn, InheritsWhatIsAskedForAndNothingElse) {
  const base::UniqueFd leaked(::open("/dev/zero", O_RDONLY));  // without O_CLOEXEC on purpose
  const auto file = base::memory_file("given", "");
  ASSERT_TRUE(file.ok());
  SpawnOptions options;
  options.inherited = {{.fd = file->get(), .as = 9}};
  const Outcome outcome = shell("for f in /proc/$$/fd/*; do readlink $f; done", options);
  EXPECT_THAT(outcome.output, AllOf(StartsWith("/dev/null\npipe:"), HasSubstr(target_of(*file)),
                                    Not(HasSubstr("/dev/zero"))));
}

TEST(Spawn, SwapsDescriptorsThatAreEachOthersTargets) {
  const auto first = base::memory_file("first", "");
  const auto second = base::memory_file("second", "");
  ASSERT_TRUE(first.ok() && second.ok());
  SpawnOptions options;
  options.inherited = {{.fd = first->get(), .as = second->get()},
                       {.fd = second->get(), .as = first->get()}};
  const Outcome outcome = shell(
      fmt::format("readlink /proc/$$/fd/{}; readlink /proc/$$/fd/{}", first->get(), second->get()),
      options);
  EXPECT_EQ(outcome.output, target_of(*second) + "\n" + target_of(*first) + "\n");
}

TEST(Spawn, TheFallbackForOldKernelsLeavesOnlyTheMappedDescriptorsOpen) {
  const base::UniqueFd kept(::open("/dev/zero", O_RDONLY));
  const base::UniqueFd other(::open("/dev/zero", O_RDONLY));
  // In a child, as it changes every descriptor of the process.
  const pid_t pid = ::fork();
  if (pid == 0) {
    const spawn_child::Mapping mappings[] = {{.fd = 0, .as = 0}, {.fd = 0, .as = kept.get()}};
    const bool done = spawn_child::close_others_on_exec(mappings, 2);
    const bool right = ::fcntl(kept.get(), F_GETFD) == 0 && ::fcntl(0, F_GETFD) == 0 &&
                       ::fcntl(other.get(), F_GETFD) == FD_CLOEXEC;
    ::_exit(done && right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(Spawn, PassesListeningSocketsAsSystemdDoes) {
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SpawnOptions options;
  options.environment = {"LISTEN_FDS=7", "X=1"};
  options.listen = {{.fd = socket.get(), .name = "task"}, {.fd = socket.get(), .name = "more"}};
  const Outcome outcome = shell(
      "test \"$LISTEN_PID\" = $$ && echo $LISTEN_FDS $LISTEN_FDNAMES $X; "
      "readlink /proc/$$/fd/3 /proc/$$/fd/4",
      options);
  EXPECT_THAT(outcome.output, StartsWith("2 task:more 1\nsocket:["));
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 3);
}

TEST(Spawn, TheChildHasDefaultUnblockedSignals) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto previous = ::signal(SIGPIPE, SIG_IGN);
  // Asked of itself: a shell blocks signals now and then.
  SpawnOptions options;
  options.argv = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
  const Outcome outcome = run(options);
  ::signal(SIGPIPE, previous);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(outcome.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Spawn, MakesGroupsAndSessions) {
  SpawnOptions options;
  options.argv = {"/bin/cat"};
  Pipe pipe;
  options.standard_input = pipe.read.get();
  for (const NewGroup group : {NewGroup::kNone, NewGroup::kGroup, NewGroup::kSession}) {
    options.new_group = group;
    auto child = spawn(options);
    ASSERT_TRUE(child.ok());
    const auto stat = read_stat(child->pid());
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->group, group == NewGroup::kNone ? ::getpgrp() : child->pid());
    EXPECT_EQ(stat->session, group == NewGroup::kSession ? child->pid() : ::getsid(0));
    if (group != NewGroup::kNone) {
      EXPECT_TRUE(child->signal_group(SIGKILL).ok());
    } else {
      EXPECT_TRUE(child->signal(SIGKILL).ok());
    }
    const auto exit = child->wait(base::soon());
    ASSERT_TRUE(exit.ok());
    EXPECT_EQ(exit->signal, SIGKILL);
  }
}

TEST(Spawn, AChildDiesWithItsParentWhereAsked) {
  Pipe pipe;
  const pid_t parent = ::fork();
  if (parent == 0) {
    SpawnOptions options;
    options.argv = {"/bin/cat"};
    options.parent_death_signal = SIGKILL;
    Pipe held_open;
    options.standard_input = held_open.read.get();
    auto child = spawn(options);
    const pid_t pid = child.ok() ? child->pid() : 0;
    if (::write(pipe.write.get(), &pid, sizeof pid) < 0) ::_exit(1);
    while (true) ::pause();
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(pipe.read.get(), &pid, sizeof pid), ssize_t{sizeof pid});
  ASSERT_GT(pid, 0);
  const auto watched = ProcessHandle::open(pid);
  ASSERT_TRUE(watched.valid());
  EXPECT_FALSE(wait_readable(watched.end_fd(), std::chrono::steady_clock::now()));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(wait_readable(watched.end_fd(), base::soon()));
}

TEST(Spawn, AnUnusableCgroupIsAnError) {
  const auto file = base::memory_file("not-a-cgroup", "");
  ASSERT_TRUE(file.ok());
  const base::UniqueFd read_only(
      ::open(fmt::format("/proc/self/fd/{}", file->get()).c_str(), O_RDONLY | O_CLOEXEC));
  SpawnOptions options;
  options.argv = {"/bin/true"};
  options.cgroup_procs_fd = read_only.get();
  const auto child = spawn(options);
  ASSERT_FALSE(child.ok());
  EXPECT_THAT(child.error().message, HasSubstr("cgroup"));
}

TEST(Child, IsReapedOnceAndAnswersAgain) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "read line; exit 4"};
  Pipe pipe;
  options.standard_input = pipe.read.get();
  auto child = spawn(options);
  ASSERT_TRUE(child.ok());
  auto running = child->reap();
  ASSERT_TRUE(running.ok());
  EXPECT_FALSE(*running);
  const auto early = child->wait(std::chrono::steady_clock::now());
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, Code::kDeadlineExceeded);
  pipe.write.reset();
  ASSERT_TRUE(wait_readable(child->end_fd(), base::soon()));
  for (int i = 0; i < 2; ++i) {
    auto ended = child->reap();
    ASSERT_TRUE(ended.ok());
    ASSERT_TRUE(*ended);
    EXPECT_EQ((*ended)->code, 4);
  }
  EXPECT_TRUE(child->reaped());
  EXPECT_EQ(child->signal(SIGTERM).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(child->signal_group(SIGTERM).error().code, Code::kFailedPrecondition);
}

TEST(Spawn, WorksFromSeveralThreadsAtOnce) {
  const auto work = [](int* good) {
    for (int i = 0; i < 20; ++i) {
      SpawnOptions options;
      options.argv = {"/bin/sh", "-c", "exit 5"};
      auto child = spawn(options);
      if (!child.ok()) continue;
      const auto exit = child->wait(base::soon());
      if (exit.ok() && exit->code == 5) ++*good;
    }
  };
  int first = 0;
  int second = 0;
  std::thread other(work, &second);
  work(&first);
  other.join();
  EXPECT_EQ(first, 20);
  EXPECT_EQ(second, 20);
}

// Beside posix_spawn() in the same run, as absolute times say nothing.
TEST(Spawn, CostsAboutAsMuchAsPosixSpawn) {
  constexpr int kRounds = 100;
  const auto measure = [](const auto& start_one) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) start_one();
    return std::chrono::steady_clock::now() - begin;
  };
  SpawnOptions options;
  options.argv = {"/bin/true"};
  const auto ours = [&] {
    auto child = spawn(options);
    ASSERT_TRUE(child.ok());
    ASSERT_TRUE(child->wait(base::soon()).ok());
  };
  const auto theirs = [] {
    pid_t pid = 0;
    char name[] = "/bin/true";
    char* argv[] = {name, nullptr};
    char* environment[] = {nullptr};
    ASSERT_EQ(::posix_spawn(&pid, name, nullptr, nullptr, argv, environment), 0);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  };
  auto best_ours = measure(ours);
  auto best_theirs = measure(theirs);
  for (int i = 0; i < 4; ++i) {
    best_ours = std::min(best_ours, measure(ours));
    best_theirs = std::min(best_theirs, measure(theirs));
  }
  RecordProperty("ours_us", std::to_string(best_ours.count() / 1000 / kRounds));
  RecordProperty("posix_spawn_us", std::to_string(best_theirs.count() / 1000 / kRounds));
  EXPECT_LT(best_ours, best_theirs * 3);
}

class StartHint : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "gangrun-hint-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file("train.py", 0644);
    file("a b.sh", 0644);
    file("tool", 0755);
    file("ready.py", 0755);
    file("data.csv", 0644);
    std::filesystem::create_directory(folder_ + "/folder.py");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void file(const std::string& name, mode_t mode) const {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    ASSERT_EQ(::chmod((folder_ + "/" + name).c_str(), mode), 0);
  }
  std::string hint(const std::string& program) const { return start_hint(program, folder_); }

  std::string folder_;
};

TEST_F(StartHint, ScriptsThatAreNotExecutableHaveAnInterpreter) {
  EXPECT_EQ(hint("train.py"), "; use python3 train.py");
  EXPECT_EQ(hint("./train.py"), "; use python3 ./train.py");
  EXPECT_EQ(hint("a b.sh"), "; use bash 'a b.sh'");
  EXPECT_EQ(start_hint(folder_ + "/train.py", "/"), "; use python3 " + folder_ + "/train.py");
}

TEST_F(StartHint, ProgramsOfTheFolderAreNamedWithIt) {
  EXPECT_EQ(hint("tool"), "; use ./tool");
  EXPECT_EQ(hint("ready.py"), "; use ./ready.py");
}

TEST_F(StartHint, OfOtherFilesNothingIsKnown) {
  for (const char* other : {"data.csv", "none.py", "folder.py", "./tool", ""}) {
    EXPECT_EQ(hint(other), "") << other;
  }
}

}  // namespace
}  // namespace gangrun::process
