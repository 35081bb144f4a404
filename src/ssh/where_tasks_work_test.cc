#include "ssh/where_tasks_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::ssh {
namespace {

using testing::Optional;

TEST(WhereTasksWork, IsNotSaidOfTheCallersOwnFolder) {
  EXPECT_EQ(where_tasks_work({"/home/ann"}, {{"gpu1", true}, {"gpu2", true}}), std::nullopt);
}

TEST(WhereTasksWork, IsSaidOfCopies) {
  EXPECT_THAT(where_tasks_work({"/home/ann"}, {{"gpu1", false}, {"gpu2", false}}),
              Optional(std::string("tasks work on each host in a folder that is copied there and "
                                   "removed at the end: none of them shares /home/ann")));
}

// Their checkpoints went with the copy, with status 0.
TEST(WhereTasksWork, HostsThatDifferAreNamed) {
  EXPECT_THAT(
      where_tasks_work({"/home/ann"}, {{"gpu1", true}, {"gpu2", false}}),
      Optional(std::string("tasks work in /home/ann, but on gpu2 in a folder that is copied "
                           "there and removed at the end: it does not share it")));
  std::vector<HostFolder> hosts = {{"gpu0", true}};
  for (const char* name : {"gpu1", "gpu2", "gpu3", "gpu4"}) hosts.push_back({name, false});
  EXPECT_THAT(*where_tasks_work({"/home/ann"}, hosts),
              testing::HasSubstr("but on gpu1, gpu2, gpu3 and 1 more in a folder"));
}

TEST(WhereTasksWork, AFolderThatCannotBeMarkedIsSharedByNobody) {
  EXPECT_THAT(*where_tasks_work({"/", "make a file in /: Permission denied"}, {{"gpu1", false}}),
              testing::EndsWith("whether it shares / cannot be found out: make a file in /: "
                                "Permission denied"));
}

// They were told to be removed at the end.
TEST(WhereTasksWork, CopiesThatAreKeptStay) {
  EXPECT_THAT(*where_tasks_work({.path = "/home/ann", .is_kept = true}, {{"gpu1", false}}),
              testing::HasSubstr("copied there and stays until `gangrun rm`: none"));
}

// Two sentences about a job of Python would contradict each other: that tasks work in folders of
// their own, and that they work in the caller's.
TEST(WhereTasksWork, FoldersOfTheirOwnAreSaidInTheSameSentence) {
  const WorkingFolder folder{.path = "/home/ann", .remark = "tasks work in folders of their own"};
  EXPECT_EQ(where_tasks_work(folder, {{"gpu1", true}}), folder.remark);
  EXPECT_THAT(where_tasks_work(folder, {{"gpu1", false}, {"gpu2", false}}),
              Optional(std::string("tasks work in folders of their own; on each host they are in a "
                                   "copy of /home/ann")));
  EXPECT_THAT(where_tasks_work(folder, {{"gpu1", true}, {"gpu2", false}}),
              Optional(std::string("tasks work in folders of their own; on gpu2 they are in a "
                                   "copy of /home/ann")));
}

TEST(WhereTasksWork, BeforeTheHostsAreAskedBothAreSaid) {
  job::JobSpec spec;
  spec.tasks.resize(2);
  const std::string begin = "/home/ann on hosts that share it; on others in a copy, which ";
  EXPECT_EQ(where_tasks_would_work("/home/ann", spec),
            begin +
                "is removed at the end (comes to outputs/HOST: new and changed files up to "
                "256 MiB)");
  spec.outputs_limit_mib = 2048;
  spec.tasks[1].outputs = {"model"};
  EXPECT_EQ(where_tasks_would_work("/home/ann", spec),
            begin +
                "is removed at the end (comes to outputs/HOST: new and changed files up to "
                "2 GiB and what `outputs` names)");
  spec.tasks[0].outputs.emplace();
  spec.tasks[1].outputs.emplace();
  spec.keep_folders = true;
  EXPECT_EQ(where_tasks_would_work("/home/ann", spec),
            begin + "stays until `gangrun rm` (comes to outputs/HOST: nothing)");
}

}  // namespace
}  // namespace gangrun::ssh
