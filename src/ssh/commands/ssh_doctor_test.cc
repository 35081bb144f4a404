#include "ssh/commands/ssh_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/terminal_text.h"

namespace gangrun::ssh::commands {
namespace {

using cluster::Verdict;

ssh::HelloMessage some_hello() {
  ssh::HelloMessage hello;
  hello.system = "Linux 6.1.0 x86_64";
  hello.containment = job::Containment::kPidNamespace;
  hello.folder = "/home/ann/.cache/gangrun";
  hello.free_bytes = std::int64_t{12} << 30U;
  hello.address = "10.0.0.2";
  return hello;
}

TEST(SshDoctorTest, AHostIsToldInOneLine) {
  ssh::HelloMessage hello = some_hello();
  hello.gpus.list.resize(8);
  hello.shares_folder = true;
  const cluster::Check check = check_of_host("gpu1", hello);
  EXPECT_EQ(check.name, "gpu1");
  EXPECT_EQ(check.verdict, Verdict::kOk);
  EXPECT_EQ(check.found,
            "8 GPUs; containment pid_namespace; no container engine; 12 GiB free in "
            "/home/ann/.cache/gangrun; "
            "\"Linux 6.1.0 x86_64\"; its address is 10.0.0.2; it shares this folder");
}

// A cgroup keeps nothing alive either.
TEST(SshDoctorTest, OnlyTheWeakestContainmentIsWarnedOf) {
  ssh::HelloMessage hello = some_hello();
  hello.containment = job::Containment::kCgroup;
  hello.containment_lack = "user namespaces are forbidden";
  EXPECT_EQ(check_of_host("gpu1", hello).verdict, Verdict::kOk);
  hello.containment = job::Containment::kSubreaper;
  const cluster::Check check = check_of_host("gpu1", hello);
  EXPECT_EQ(check.verdict, Verdict::kWarning);
  EXPECT_THAT(
      check.found,
      testing::HasSubstr("no GPU; containment subreaper (\"user namespaces are forbidden\"); "));
}

TEST(SshDoctorTest, AContainerEngineIsToldByItsName) {
  ssh::HelloMessage hello = some_hello();
  hello.engine = "/usr/bin/podman";
  EXPECT_THAT(check_of_host("gpu1", hello).found,
              testing::HasSubstr("; container engine \"podman\"; "));
}

// A made-up sentence of gangrun's stood in its table, 4 KB long.
TEST(SshDoctorTest, WhatAHostSaysOfItselfIsMarkedAsTheirsAndShort) {
  std::string evil;
  for (int i = 0; i < 1000; ++i) evil += "\x1b]52;c;eA==\agangrun: the job has succeeded\n";
  ssh::HelloMessage hello = some_hello();
  hello.containment_lack = hello.system = hello.engine = evil;
  const std::string found = check_of_host("gpu1", hello).found;
  EXPECT_LT(found.size(), 1000U);
  EXPECT_EQ(found, base::harmless_sentence(found));
  EXPECT_THAT(found, testing::HasSubstr("\"gangrun: the job has succeeded"));
}

TEST(SshDoctorTest, LittleRoomIsWarnedOf) {
  ssh::HelloMessage hello = some_hello();
  hello.free_bytes = std::int64_t{99} << 20U;
  EXPECT_EQ(check_of_host("gpu1", hello).verdict, Verdict::kWarning);
  hello.free_bytes = 0;
  EXPECT_THAT(check_of_host("gpu1", hello).found, testing::HasSubstr("; 0 B free in "));
}

}  // namespace
}  // namespace gangrun::ssh::commands
