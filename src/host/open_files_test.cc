#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/job_master.h"

namespace gangrun::host {
namespace {

// In a process of its own, as nobody but root can raise the limit again.
int judge(int fitting, int too_many) {
  const rlimit few{128, 128};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
  job::JobSpec spec;
  spec.tasks.resize(1);
  spec.tasks[0].instances = fitting;
  if (!check_open_files(spec).ok()) return 2;
  spec.tasks[0].instances = too_many;
  const auto refused = check_open_files(spec);
  if (refused.ok()) return 3;
  return refused.error().message.find("needs 132 open files") == std::string::npos ? 4 : 0;
}

TEST(OpenFilesOfAMaster, GrowWithItsTasks) {
  EXPECT_EXIT(::_exit(judge(16, 17)), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gangrun::host
