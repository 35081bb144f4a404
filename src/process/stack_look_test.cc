#include "process/stack_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/described_json.h"
#include "base/format.h"
#include "base/json.h"
#include "base/pause.h"
#include "base/test_deadline.h"
#include "base/test_folder.h"
#include "base/variable.h"
#include "process/child.h"
#include "process/proc_fs.h"
#include "process/spawn.h"

namespace gangrun::process {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::chrono::seconds kEnough(60);

// A process that is taken for a Python interpreter, and programs in its PATH that say and do what a
// test wants. Our own PATH has none.
class StackLookTest : public testing::Test {
 protected:
  StackLookTest() : path_(base::variable("PATH")) {
    ::setenv("PATH", "/usr/gangrun-none", 1);
    for (const char* name : {"/bin", "/venv"}) {
      std::filesystem::create_directory(folder_.path() + name);
    }
    std::filesystem::copy_file("/bin/sleep", folder_ / "venv/python3");
  }
  ~StackLookTest() override {
    if (task_) {
      (void)task_->signal(SIGKILL);
      (void)task_->wait(base::soon());
    }
    ::setenv("PATH", path_.c_str(), 1);
  }

  // Returns its path.
  std::string program(const std::string& name, const std::string& script, mode_t mode = 0755) {
    const std::string path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), mode);
    return path;
  }
  void start(const std::string& interpreter) {
    SpawnOptions options;
    options.argv = {interpreter, "1000"};
    options.environment = {"PATH=" + folder_ / "bin"};
    options.working_folder = folder_.path();
    auto child = spawn(options);
    ASSERT_TRUE(child.ok()) << child.error().message;
    task_.emplace(*std::move(child));
    // Its exec lets us go on a moment before its environment can be read.
    const base::Instant limit = base::soon();
    while (read_proc(task_->pid(), "environ").empty() && std::chrono::steady_clock::now() < limit) {
      base::pause_for(std::chrono::milliseconds(1));
    }
  }
  StackLook look(base::Duration limit = kEnough, const StackQuestion& question = {}) {
    if (!task_) start(folder_ / "venv/python3");
    return look_at_stack(glance_at(task_ ? task_->pid() : 0),
                         std::chrono::steady_clock::now() + limit, question);
  }

  base::TestFolder folder_;
  const std::string path_;
  std::optional<Child> task_;
};

TEST_F(StackLookTest, ThePythonAndTheNativeStackAreWhatTheProgramsSay) {
  program("bin/py-spy", "echo python: \"$@\"");
  program("bin/eu-stack", "echo native: \"$@\"");
  program("bin/gdb", "echo not asked");
  const StackLook seen = look();
  EXPECT_EQ(seen.name, "python3");
  EXPECT_EQ(seen.python, base::format("python: dump --pid {}", seen.pid));
  EXPECT_EQ(seen.python_by, kPySpy);
  EXPECT_EQ(seen.native, base::format("native: -p {}", seen.pid));
  EXPECT_EQ(seen.trouble, "");
}

TEST_F(StackLookTest, WhereOneStackIsEnoughTheNativeOneIsReadInPlaceOfPythons) {
  const StackQuestion question{.is_one_enough = true};
  program("bin/eu-stack", "echo native");
  EXPECT_EQ(look(kEnough, question).native, "native");
  program("bin/py-spy", "echo python");
  const StackLook seen = look(kEnough, question);
  EXPECT_EQ(seen.python, "python");
  EXPECT_EQ(seen.native + seen.trouble, "");
}

TEST_F(StackLookTest, OfGdbOnlyTheStacksAreTaken) {
  program("bin/gdb", "printf 'warning: of gdb\\n\\nThread 1 (LWP 9):\\n#0 poll ()\\n'");
  EXPECT_EQ(look().native, "Thread 1 (LWP 9):\n#0 poll ()");
}

TEST_F(StackLookTest, APySpyThatHangsLeavesTimeForTheNativeStack) {
  program("bin/py-spy", "exec /bin/sleep 1000");
  program("bin/eu-stack", "echo native");
  const StackLook seen = look(std::chrono::seconds(4));
  EXPECT_EQ(seen.native, "native");
  EXPECT_EQ(seen.python + seen.python_by + seen.trouble, "");
}

TEST_F(StackLookTest, WhereAllHangTheFirstIsNamed) {
  const std::string spy = program("bin/py-spy", "exec /bin/sleep 1000");
  program("bin/eu-stack", "exec /bin/sleep 1000");
  const StackLook seen = look(std::chrono::milliseconds(400));
  EXPECT_EQ(seen.trouble, spy + " takes too long");
  EXPECT_TRUE(seen.is_late);
  EXPECT_EQ(seen.python + seen.native, "");
}

// A debugger that is killed as it attaches leaves a SIGSTOP: the process stood still for good.
TEST_F(StackLookTest, AProcessGoesOnAfterALookThatWasCutShort) {
  start(folder_ / "venv/python3");
  program("bin/gdb", base::format("kill -STOP {}\ntrap '' TERM\nwhile :; do /bin/sleep 0.1; done",
                                  task_->pid()));
  const StackLook seen = look(std::chrono::milliseconds(400));
  EXPECT_THAT(seen.trouble, HasSubstr("takes too long"));
  const auto state = [&] { return read_stat(task_->pid())->state; };
  const base::Instant limit = base::soon();
  while (state() == 'T' && std::chrono::steady_clock::now() < limit) {
    base::pause_for(std::chrono::milliseconds(1));
  }
  EXPECT_NE(state(), 'T');
}

TEST_F(StackLookTest, AProcessThatStoodStillDoesSoAfterALookThatWasCutShort) {
  start(folder_ / "venv/python3");
  ASSERT_TRUE(task_->signal(SIGSTOP).ok());
  const base::Instant limit = base::soon();
  while (read_stat(task_->pid())->state != 'T' && std::chrono::steady_clock::now() < limit) {
    base::pause_for(std::chrono::milliseconds(1));
  }
  program("bin/gdb", "exec /bin/sleep 1000");
  EXPECT_EQ(look(std::chrono::milliseconds(400)).state, "T");
  EXPECT_EQ(read_stat(task_->pid())->state, 'T');
}

TEST_F(StackLookTest, AProgramThatMoreTimeWouldHelpIsNamedBeforeOneThatIsNotThere) {
  const std::string gdb = program("bin/gdb", "exec /bin/sleep 1000");
  const StackLook seen = look(std::chrono::milliseconds(400));
  EXPECT_EQ(seen.trouble, gdb + " takes too long");
  EXPECT_TRUE(seen.is_late);
}

TEST_F(StackLookTest, ARefusalIsToldInTheWordsOfTheProgram) {
  const std::string spy = program("bin/py-spy", "echo Error: not permitted >&2; exit 1");
  program("bin/eu-stack", "exit 1");
  const StackLook seen = look();
  EXPECT_EQ(seen.trouble, spy + " exited with status 1: Error: not permitted");
  EXPECT_FALSE(seen.is_late);
  EXPECT_EQ(seen.python + seen.python_by + seen.native, "");
}

TEST_F(StackLookTest, GarbageIsKeptWithinLimitsAndCanBeHandedOn) {
  program("bin/py-spy", "printf '\\377\\001'; exec /usr/bin/head -c 100000 /dev/zero");
  program("bin/eu-stack", "exec /usr/bin/head -c 300000 /dev/zero");
  const StackLook seen = look();
  EXPECT_THAT(seen.python, StartsWith("\377\001"));
  EXPECT_LE(seen.python.size(), kMaxStackBytes);
  EXPECT_EQ(seen.native, "");
  EXPECT_FALSE(base::dump_json(base::to_json(seen)).empty());
}

TEST_F(StackLookTest, WithoutProgramsTheReasonIsTold) {
  EXPECT_THAT(look().trouble, StartsWith("py-spy is not installed"));
}

TEST_F(StackLookTest, PySpyIsFoundBesideAnInterpreterWhoseEnvironmentIsNotActive) {
  program("venv/py-spy", "echo beside");
  EXPECT_EQ(look().python, "beside");
}

TEST_F(StackLookTest, TheInterpretersFolderMayBeARelativeOne) {
  program("venv/py-spy", "echo beside");
  start("venv/python3");
  EXPECT_EQ(look().python, "beside");
}

TEST_F(StackLookTest, AProgramBesideItThatOthersMayWriteIsNotRun) {
  for (const mode_t mode : {mode_t{0757}, mode_t{0775}}) {
    program("venv/py-spy", "echo beside", mode);
    EXPECT_THAT(look().trouble, HasSubstr("py-spy is not installed"));
  }
}

TEST_F(StackLookTest, AGlanceTellsAllButStacks) {
  program("bin/py-spy", "echo python");
  start(folder_ / "venv/python3");
  const StackLook seen = glance_at(task_->pid());
  EXPECT_EQ(seen.pid, task_->pid());
  EXPECT_EQ(seen.name, "python3");
  EXPECT_NE(seen.state, "");
  EXPECT_EQ(seen.python + seen.native + seen.trouble, "");
}

TEST_F(StackLookTest, AProcessThatHasEndedIsToldAsSuch) {
  start(folder_ / "venv/python3");
  (void)task_->signal(SIGKILL);
  ASSERT_TRUE(task_->wait(base::soon()).ok());
  EXPECT_EQ(look().trouble, "it has ended");
}

}  // namespace
}  // namespace gangrun::process
