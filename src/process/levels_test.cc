#include "process/levels.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "process/cgroup.h"
#include "process/pid_namespace.h"
#include "process/proc_fs.h"

namespace gangrun::process {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Levels, HaveNamesBothWays) {
  for (const Level level : kLevels) EXPECT_EQ(level_from_string(to_string(level)), level);
  EXPECT_EQ(to_string(Level::kPidNamespace), "pid_namespace");
  EXPECT_EQ(to_string(Level::kCgroup), "cgroup");
  EXPECT_EQ(to_string(Level::kSubreaper), "subreaper");
  EXPECT_EQ(level_from_string("container"), std::nullopt);
}

TEST(Levels, TheBestPossibleIsTaken) {
  const Ability yes{.possible = true, .reason = ""};
  const Ability no{.possible = false, .reason = "no"};
  const auto best = [](const std::map<Level, Ability>& abilities) {
    return choose_level(std::nullopt, [&](Level level) { return abilities.at(level); }).level;
  };
  const auto all = [](const Ability& first, const Ability& second, const Ability& third) {
    return std::map<Level, Ability>{
        {Level::kPidNamespace, first}, {Level::kCgroup, second}, {Level::kSubreaper, third}};
  };
  EXPECT_EQ(best(all(yes, yes, yes)), Level::kPidNamespace);
  EXPECT_EQ(best(all(no, yes, yes)), Level::kCgroup);
  EXPECT_EQ(best(all(no, no, yes)), Level::kSubreaper);
  EXPECT_EQ(best(all(no, no, no)), Level::kSubreaper);
}

// A run tried all levels, and waited 16 ms for a cgroup that it did not use.
TEST(Levels, NoneIsTriedAfterTheFirstThatIsPossible) {
  std::vector<Level> tried;
  const auto choose = [&tried](std::optional<Level> wanted, std::optional<Level> first_possible) {
    tried.clear();
    return choose_level(wanted, [&](Level level) {
      tried.push_back(level);
      const bool possible = first_possible && level >= *first_possible;
      return Ability{.possible = possible, .reason = possible ? "" : "no"};
    });
  };
  EXPECT_EQ(choose(std::nullopt, Level::kPidNamespace).level, Level::kPidNamespace);
  EXPECT_THAT(tried, ElementsAre(Level::kPidNamespace));
  EXPECT_EQ(choose(std::nullopt, Level::kCgroup).level, Level::kCgroup);
  EXPECT_THAT(tried, ElementsAre(Level::kPidNamespace, Level::kCgroup));
  const LevelChoice none = choose(std::nullopt, std::nullopt);
  EXPECT_EQ(none.level, Level::kSubreaper);
  EXPECT_EQ(none.ability.reason, "no");
  for (const Level wanted : kLevels) {
    EXPECT_EQ(choose(wanted, Level::kPidNamespace).level, wanted);
    EXPECT_THAT(tried, ElementsAre(wanted));
    EXPECT_FALSE(choose(wanted, std::nullopt).ability.possible);
    EXPECT_THAT(tried, ElementsAre(wanted));
  }
}

TEST(Levels, AUserNamespaceIsMadeOnlyForWhoAsksForItByName) {
  const auto probe = [](Level level) {
    return Ability{.possible = true, .needs_user_namespace = level == Level::kPidNamespace};
  };
  EXPECT_EQ(choose_level(std::nullopt, probe).level, Level::kCgroup);
  EXPECT_EQ(choose_level(Level::kPidNamespace, probe).level, Level::kPidNamespace);
  EXPECT_TRUE(choose_level(Level::kPidNamespace, probe).ability.possible);
}

TEST(Levels, OnlyAPidNamespaceIsNoticed) {
  EXPECT_THAT(what_programs_notice(Level::kCgroup, false), HasSubstr("cgroup of its own"));
  EXPECT_EQ(what_programs_notice(Level::kSubreaper, false), "");
  EXPECT_THAT(what_programs_notice(Level::kPidNamespace, false), Not(HasSubstr("setuid")));
  EXPECT_THAT(what_programs_notice(Level::kPidNamespace, true), HasSubstr("setuid"));
}

TEST(Levels, WhatIsNotPossibleHasAReasonAndNothingIsLeftBehind) {
  for (const Level level : kLevels) {
    const Ability ability = probe_level(level);
    EXPECT_EQ(ability.possible, ability.reason.empty()) << to_string(level) << ability.reason;
  }
  EXPECT_TRUE(probe_level(Level::kSubreaper).possible);
  EXPECT_THAT(children_of(::getpid()), IsEmpty());
}

// A level that could not even be tried was told as an attempt that took too long.
TEST(Levels, WhatCannotBeTriedIsToldWithItsReason) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Ability ability = probe_level(Level::kPidNamespace);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(ability.possible);
  EXPECT_THAT(ability.reason, HasSubstr("Too many open files"));
}

TEST(Levels, TheProbeChangesNothingForTheCaller) {
  const auto before = own_cgroup_folder();
  for (const Level level : kLevels) {
    EXPECT_EQ(probe_level(level).possible, probe_level(level).possible) << to_string(level);
  }
  const auto after = own_cgroup_folder();
  EXPECT_EQ(before.ok() ? *before : "", after.ok() ? *after : "");
}

TEST(PidNamespace, AFailureIsToldByItsStep) {
  using pid_namespace::Step;
  using pid_namespace::StepFailure;
  for (const Step step :
       {Step::kUnshare, Step::kUserMap, Step::kMountNamespace, Step::kMounts, Step::kProc}) {
    const StepFailure failure{.step = step, .error_number = EPERM};
    EXPECT_TRUE(failure.happened());
    EXPECT_THAT(pid_namespace::words(failure), HasSubstr("Operation not permitted"));
  }
  EXPECT_FALSE(StepFailure{}.happened());
}

TEST(PidNamespace, RootWithoutThePrivilegeMakesNoUserNamespace) {
  EXPECT_EQ(pid_namespace::own_id_maps().may_use_user_namespace, ::geteuid() != 0);
  EXPECT_THAT(pid_namespace::own_id_maps().user.data(), HasSubstr(std::to_string(::geteuid())));
}

}  // namespace
}  // namespace gangrun::process
