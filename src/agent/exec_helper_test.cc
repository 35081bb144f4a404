#include "agent/exec_helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/execs.h"

namespace gangrun::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ExecHelper, ACommandIsRunAsItIs) {
  EXPECT_THAT(command_or_shell({{"ls", "a b"}}, {"SHELL=/bin/sh"}), ElementsAre("ls", "a b"));
}

TEST(ExecHelper, WithoutACommandItIsTheUsersShellOrTheOneThatIsEverywhere) {
  EXPECT_THAT(command_or_shell({}, {}), ElementsAre("/bin/sh"));
  EXPECT_THAT(command_or_shell({}, {"A=b", "SHELL=/bin/true"}), ElementsAre("/bin/true"));
  EXPECT_THAT(command_or_shell({}, {"SHELL=/proc/none"}), ElementsAre("/bin/sh"));
  EXPECT_THAT(command_or_shell({}, {"SHELL=sh"}), ElementsAre("/bin/sh"));
}

TEST(ExecPlace, ItIsThatOfTheTaskButForTheFilesByWhichThatSpeaks) {
  const Variables variables{{"A", "b"},
                            {"GANGRUN_FIGURES_FILE", "/f"},
                            {"GANGRUN_RESULT_FILE", "/r"},
                            {"GANGRUN_TASK_INDEX", "0"}};
  const ExecPlace place = exec_place(variables, "/work", {});
  EXPECT_THAT(place.environment, ElementsAre("A=b", "GANGRUN_TASK_INDEX=0"));
  EXPECT_EQ(place.folder, "/work");
  EXPECT_THAT(place.engine_argv, IsEmpty());
}

TEST(ExecPlace, InAnImageTheEngineStartsItInTheTasksContainer) {
  const ExecPlace place = exec_place({}, "/work", {"/usr/bin/docker", {"job-worker-0", "other"}});
  EXPECT_THAT(place.engine_argv, ElementsAre("/usr/bin/docker", "exec", "--interactive",
                                             "--workdir", "/work", "job-worker-0"));
}

}  // namespace
}  // namespace gangrun::agent
