#include "agent/stacks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

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
#include "process/stack_look.h"

namespace gangrun::agent {
namespace {

using Looks = process::StackLooks<>;

// Enough for what answers at all, and too little for what does not.
constexpr const char* kEnough = "60000";
constexpr const char* kShort = "400";

// Processes whose PATH, as ours, has the programs of a test only, and engines that are such ones.
class RunLookTest : public testing::Test {
 protected:
  RunLookTest() : path_(base::variable("PATH")) { ::setenv("PATH", "/usr/gangrun-none", 1); }
  ~RunLookTest() override {
    for (process::Child& child : children_) {
      (void)child.signal(SIGKILL);
      (void)child.wait(base::soon());
    }
    ::setenv("PATH", path_.c_str(), 1);
  }

  // Returns its path.
  std::string program(const std::string& name, const std::string& script) {
    const std::string path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
  // The number of a new process.
  pid_t start() {
    process::SpawnOptions options;
    options.argv = {"/bin/sleep", "1000"};
    options.environment = {"PATH=" + folder_.path()};
    auto child = process::spawn(options);
    EXPECT_TRUE(child.ok()) << child.error().message;
    const pid_t pid = children_.emplace_back(*std::move(child)).pid();
    const base::Instant limit = base::soon();
    while (process::read_proc(pid, "environ").empty() && std::chrono::steady_clock::now() < limit) {
      base::pause_for(std::chrono::milliseconds(1));
    }
    return pid;
  }
  static Looks look(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_look(arguments), 0);
    const std::string said = testing::internal::GetCapturedStdout();
    const auto json = base::parse_json(said, said.size());
    EXPECT_TRUE(json.ok()) << said;
    return json.ok() ? base::from_json<Looks>(*json).value_or(Looks{}) : Looks{};
  }

  base::TestFolder folder_;
  const std::string path_;
  std::vector<process::Child> children_;
};

TEST_F(RunLookTest, AllProcessesAreSeen) {
  program("gdb", "printf '\\nThread 1:\\n#0 of %s\\n' \"$*\"");
  const pid_t first = start();
  const pid_t second = start();
  const Looks seen = look({kEnough, "5000", "all", std::to_string(first), std::to_string(second)});
  ASSERT_EQ(seen.processes.size(), 2U);
  EXPECT_EQ(seen.processes[0].pid, first);
  EXPECT_EQ(seen.processes[1].pid, second);
  for (const process::StackLook& one : seen.processes) {
    EXPECT_NE(one.native.find(base::format("-p {} ", one.pid)), std::string::npos) << one.native;
    EXPECT_EQ(one.trouble, "");
  }
}

TEST_F(RunLookTest, AProcessThatIsLateIsNamedWithAHint) {
  const std::string gdb = program("gdb", "exec /bin/sleep 1000");
  const Looks seen = look({kShort, "5000", "all", std::to_string(start())});
  ASSERT_EQ(seen.processes.size(), 1U);
  EXPECT_EQ(seen.processes[0].name, "sleep");
  EXPECT_NE(seen.processes[0].state, "");
  EXPECT_EQ(seen.processes[0].trouble,
            base::format("not looked at within 5.0 s: {} takes too long; allow more with --timeout",
                         gdb));
}

TEST_F(RunLookTest, OneThatIsLateDoesNotCostTheOthers) {
  program("gdb", "printf '\\nThread 1:\\n#0 poll\\n'");
  const pid_t stuck = start();
  program("gdb", base::format("case \"$*\" in *'-p {} '*) exec /bin/sleep 1000;; esac\n"
                              "printf '\\nThread 1:\\n#0 poll\\n'",
                              stuck));
  const Looks seen = look({"2000", "3000", "all", std::to_string(stuck), std::to_string(start())});
  ASSERT_EQ(seen.processes.size(), 2U);
  EXPECT_NE(seen.processes[0].trouble, "");
  EXPECT_EQ(seen.processes[1].native, "Thread 1:\n#0 poll");
}

TEST_F(RunLookTest, AProcessThatCannotBeReadHasNoHint) {
  const Looks seen = look({kEnough, "5000", "one", std::to_string(start())});
  ASSERT_EQ(seen.processes.size(), 1U);
  EXPECT_EQ(seen.processes[0].trouble, "neither eu-stack nor gdb is installed");
}

TEST_F(RunLookTest, AnEngineThatDoesNotAnswerIsNamed) {
  const std::string engine = program("docker", "exec /bin/sleep 1000");
  const Looks seen = look({kShort, "5000", "all", "in", engine, "box-1"});
  ASSERT_EQ(seen.processes.size(), 1U);
  EXPECT_EQ(seen.processes[0].name, "box-1");
  EXPECT_EQ(seen.processes[0].trouble,
            base::format("not looked at within 5.0 s: {} exec did not answer in time; allow more "
                         "with --timeout",
                         engine));
}

TEST_F(RunLookTest, InAContainerTheCommandHasLessTimeAndTheSameQuestion) {
  const std::string engine = program(
      "docker",
      "shift 3; [ \"$2\" -lt 60000 ] && [ \"$3 $4\" = '5000 one' ] && last=$1 || last=wrong\n"
      "printf '{\"processes\":[{\"pid\":7,\"name\":\"%s\",\"state\":\"S\",\"cpu_seconds\":0}],"
      "\"not_shown\":2}' \"$last\"");
  const Looks seen = look({kEnough, "5000", "one", "in", engine, "box-1", "box-2"});
  ASSERT_EQ(seen.processes.size(), 2U);
  EXPECT_EQ(seen.processes[0].name, kLookCommand);
  EXPECT_EQ(seen.not_shown, 4);
}

TEST_F(RunLookTest, ARefusalOfTheEngineIsToldInItsWords) {
  const std::string engine = program("docker", "echo Error: box-1 is paused >&2; exit 1");
  const Looks seen = look({kEnough, "5000", "all", "in", engine, "box-1"});
  ASSERT_EQ(seen.processes.size(), 1U);
  EXPECT_NE(seen.processes[0].trouble.find("box-1 is paused"), std::string::npos);
  EXPECT_EQ(seen.processes[0].trouble.find("--timeout"), std::string::npos);
}

TEST_F(RunLookTest, WrongWordsAreRefused) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"5"},
                                                       {"5", "5"},
                                                       {"0", "5", "all"},
                                                       {"5", "x", "all"},
                                                       {"5", "5", "some"},
                                                       {"5", "5", "all", "-1"},
                                                       {"5", "5", "all", "in"}};
  for (const auto& arguments : wrong) EXPECT_EQ(run_look(arguments), 2);
}

}  // namespace
}  // namespace gangrun::agent
