#include "base/memory_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace gangrun::base {
namespace {

TEST(MemoryFile, IsEmptyHasNoNameAndIsClosedOnExec) {
  const auto file = memory_file("some");
  ASSERT_TRUE(file.ok()) << file.error().message;
  struct stat info {};
  ASSERT_EQ(::fstat(file->get(), &info), 0);
  EXPECT_EQ(info.st_size, 0);
  EXPECT_EQ(info.st_nlink, 0U);
  EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
  const bool can_be_sealed = ::fcntl(file->get(), F_ADD_SEALS, F_SEAL_GROW) == 0;
  EXPECT_EQ(can_be_sealed, has_memory_files());
}

}  // namespace
}  // namespace gangrun::base
