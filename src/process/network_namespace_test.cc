#include "process/network_namespace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gangrun::process {
namespace {

using testing::HasSubstr;

// Which namespace the calling thread is in.
ino_t network_of_this_thread() {
  struct stat info {};
  return ::stat("/proc/thread-self/ns/net", &info) == 0 ? info.st_ino : 0;
}

TEST(NetworkNamespace, ANameThatIsNotThereIsToldWithThoseThatAre) {
  const auto opened = open_network_namespace("gangrun-no-such");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, base::Code::kNotFound);
  EXPECT_THAT(opened.error().message, HasSubstr("/run/netns/gangrun-no-such"));
  EXPECT_THAT(opened.error().message, HasSubstr("; there "));
}

TEST(NetworkNamespace, WhatIsNoNamespaceIsRefused) {
  const base::UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto entered = enter_network_namespace(file.get());
  ASSERT_FALSE(entered.ok());
  EXPECT_THAT(entered.error().message, HasSubstr("not a network namespace"));
}

// In a process of its own, which may stay where it went. Without the rights to make a namespace
// there are none to enter one, and that must be said.
TEST(NetworkNamespace, IsEnteredByItsDescriptor) {
  const pid_t child = ::fork();
  if (child == 0) {
    const base::UniqueFd first(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    const ino_t first_number = network_of_this_thread();
    if (::unshare(CLONE_NEWNET) != 0) {
      const auto entered = enter_network_namespace(first.get());
      const bool told = !entered.ok() && entered.error().code == base::Code::kPermissionDenied;
      ::_exit(told ? 0 : 1);
    }
    if (network_of_this_thread() == first_number) ::_exit(2);
    if (!enter_network_namespace(first.get()).ok()) ::_exit(3);
    ::_exit(network_of_this_thread() == first_number ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

}  // namespace
}  // namespace gangrun::process
