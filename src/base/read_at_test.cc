#include "base/read_at.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace gangrun::base {
namespace {

TEST(ReadAt, WhatIsThereFromAnOffset) {
  const auto file = memory_file("read_at", "0123456789");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*read_at(file->get(), 2, 3, "read"), "234");
  EXPECT_EQ(*read_at(file->get(), 0, 10, "read"), "0123456789");
  EXPECT_EQ(*read_at(file->get(), 3, 0, "read"), "");
}

TEST(ReadAt, LessOnlyWhereTheFileEnds) {
  const auto file = memory_file("read_at", "0123456789");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*read_at(file->get(), 8, 5, "read"), "89");
  EXPECT_EQ(*read_at(file->get(), 10, 5, "read"), "");
}

TEST(ReadAt, AnErrorBeginsWithWhatWasRead) {
  const auto bytes = read_at(-1, 0, 5, "cannot read the log");
  ASSERT_FALSE(bytes.ok());
  EXPECT_THAT(bytes.error().message, testing::StartsWith("cannot read the log"));
}

}  // namespace
}  // namespace gangrun::base
