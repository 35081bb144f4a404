#include "process/core_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/pid_namespace.h"

namespace gangrun::process {
namespace {

constexpr uid_t kPlainUser = 65534;

// The wait status of a child, of an ordinary user, that runs `work` and ends with what it returned.
template <typename Work>
int run_as_user(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setresgid(kPlainUser, kPlainUser, kPlainUser) != 0 ||
                             ::setresuid(kPlainUser, kPlainUser, kPlainUser) != 0)) {
      ::_exit(99);
    }
    ::prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);  // as after exec()
    ::_exit(work());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

bool owns(const char* path) {
  struct stat info {};
  return ::stat(path, &info) == 0 && info.st_uid == ::geteuid();
}

TEST(CoreFiles, ACrashLeavesNone) {
  const int status = run_as_user([] {
    leave_no_core_file();
    ::signal(SIGABRT, SIG_DFL);
    ::abort();
    return 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(WCOREDUMP(status));
}

TEST(CoreFiles, OthersOfTheUserDoNotSeeIntoIt) {
  EXPECT_EQ(run_as_user([] { return owns("/proc/self/environ") ? 0 : 1; }), 0);
  EXPECT_EQ(run_as_user([] {
              leave_no_core_file();
              return owns("/proc/self/environ") ? 1 : 0;
            }),
            0);
}

TEST(CoreFiles, AProgramThatItStartsIsLikeAnyOther) {
  EXPECT_EQ(run_as_user([] {
              leave_no_core_file();
              ::execl("/bin/sh", "sh", "-c", "test -O /proc/self/environ", nullptr);
              return 1;
            }),
            0);
}

TEST(CoreFiles, ItsFilesInProcAreItsOwnForAWhile) {
  EXPECT_EQ(run_as_user([] {
              leave_no_core_file();
              {
                const OwnFilesInProc own;
                if (!owns("/proc/self/environ")) return 1;
              }
              return owns("/proc/self/environ") ? 2 : 0;
            }),
            0);
}

// The maps of its users are files there.
TEST(CoreFiles, ItStillMakesAUserNamespace) {
  const auto unshared = [] {
    return pid_namespace::unshare_children(pid_namespace::own_id_maps()).happened() ? 1 : 0;
  };
  // If the host lets no user make one, neither does it.
  EXPECT_EQ(run_as_user([&] {
              leave_no_core_file();
              return unshared();
            }),
            run_as_user(unshared));
}

}  // namespace
}  // namespace gangrun::process
