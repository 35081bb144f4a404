#include "ssh/host_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobfile/hosts.h"

namespace gangrun::ssh {
namespace {

using testing::HasSubstr;
using Hosts = base::Result<std::vector<job::Host>>;

// "gpu1:8 gpu2"
std::string texts(const Hosts& hosts) {
  if (!hosts.ok()) return "error: " + hosts.error().message;
  std::string text;
  for (const job::Host& host : *hosts) text += (text.empty() ? "" : " ") + jobfile::to_string(host);
  return text;
}

TEST(Hostfile, IsTakenInTheFormsOfOthers) {
  EXPECT_EQ(texts(hosts_of_file("# ours\ngpu1\ngpu2:4\n\n  gpu3\tslots=8  # DeepSpeed's\r\n")),
            "gpu1 gpu2:4 gpu3:8");
  EXPECT_EQ(texts(hosts_of_file("fd00::5 slots=8\n[fd00::6]:4\n::1\n")),
            "[fd00::5]:8 [fd00::6]:4 ::1");
}

// It was taken for a part of the first host's name.
TEST(Hostfile, MayBeginWithAByteOrderMark) {
  EXPECT_EQ(texts(hosts_of_file("\xEF\xBB\xBFgpu1\r\ngpu2\r\n")), "gpu1 gpu2");
  using namespace std::string_view_literals;
  EXPECT_EQ(texts(hosts_of_file("\xFF\xFEg\0p\0u\0\n\0"sv)),
            "error: the text is in UTF-16; allowed: UTF-8");
}

TEST(Hostfile, AHostThatIsNamedAgainHasMoreSlots) {
  EXPECT_EQ(texts(hosts_of_file("gpu1\ngpu2 slots=2\ngpu1\n")), "gpu1:2 gpu2:2");
}

TEST(Hostfile, WhatIsNotUnderstoodIsNamedWithItsLine) {
  EXPECT_THAT(texts(hosts_of_file("gpu1\ngpu2 max_slots=4\n")), HasSubstr("line 2: 'max_slots=4'"));
  EXPECT_THAT(texts(hosts_of_file("gpu1 slots=0\n")), HasSubstr("line 1"));
  EXPECT_THAT(texts(hosts_of_file("gpu1:2 slots=2\n")), HasSubstr("'slots=2' is not allowed"));
  EXPECT_EQ(texts(hosts_of_file("# nobody\n")), "error: no host is named");
}

TEST(Nodelist, IsExpanded) {
  EXPECT_EQ(texts(hosts_of_nodelist("gpu[01-03,7],login1", "")), "gpu01 gpu02 gpu03 gpu7 login1");
  EXPECT_EQ(texts(hosts_of_nodelist("n[8-11]", "")), "n8 n9 n10 n11");
  EXPECT_EQ(texts(hosts_of_nodelist("n[098-101]", "")), "n098 n099 n100 n101");
  EXPECT_EQ(texts(hosts_of_nodelist("r[1-2]c[1-2]x", "")), "r1c1x r1c2x r2c1x r2c2x");
  EXPECT_EQ(texts(hosts_of_nodelist("alone", "4")), "alone:4");
}

TEST(Nodelist, HasTheTasksOfEachNode) {
  EXPECT_EQ(texts(hosts_of_nodelist("gpu[1-3]", "8(x2),4")), "gpu1:8 gpu2:8 gpu3:4");
}

TEST(Nodelist, WhatIsNoneIsAnError) {
  EXPECT_THAT(texts(hosts_of_nodelist("gpu[1-3", "")), HasSubstr("error"));
  EXPECT_THAT(texts(hosts_of_nodelist("gpu[3-1]", "")), HasSubstr("'3-1' is no range"));
  EXPECT_THAT(texts(hosts_of_nodelist("gpu[a-b]", "")), HasSubstr("is no range"));
  EXPECT_THAT(texts(hosts_of_nodelist("gpu[1-999999999]", "")), HasSubstr("more than"));
  EXPECT_THAT(texts(hosts_of_nodelist("a[1-1000]b[1-1000]", "")), HasSubstr("more than"));
  EXPECT_THAT(texts(hosts_of_nodelist("gpu1", "eight")), HasSubstr("error"));
}

base::Result<std::string> no_file(const std::string& path) { return base::not_found(path); }

std::string batch(const std::map<std::string, std::string>& environment) {
  const auto found = hosts_of_batch_system(environment, [](const std::string& path) {
    return path == "/spool/nodes" ? base::Result<std::string>("n1\nn1\nn2\n") : no_file(path);
  });
  if (!found.ok()) return "error: " + found.error().message;
  if (!*found) return "none";
  return (*found)->source + ": " + texts((*found)->hosts);
}

TEST(BatchSystem, GivesTheHostsOfItsJob) {
  EXPECT_EQ(batch({{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", "2(x2)"}}),
            "SLURM_JOB_NODELIST: n1:2 n2:2");
  EXPECT_EQ(batch({{"PBS_NODEFILE", "/spool/nodes"}}), "PBS_NODEFILE: n1:2 n2:1");
  EXPECT_EQ(batch({{"LSB_HOSTS", "n1 n1 n2"}}), "LSB_HOSTS: n1:2 n2:1");
  EXPECT_EQ(batch({{"HOME", "/root"}}), "none");
  EXPECT_EQ(batch({{"PBS_NODEFILE", "/spool/none"}}), "error: PBS_NODEFILE: /spool/none");
}

}  // namespace
}  // namespace gangrun::ssh
