#include "host/port_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::host {
namespace {

TEST(PortRange, IsOnePortOrSeveral) {
  EXPECT_EQ(*port_range_from("4711"), (PortRange{4711, 4711}));
  EXPECT_EQ(*port_range_from("1-65535"), (PortRange{1, 65'535}));
}

TEST(PortRange, WhatIsNoneIsToldWithWhatIsAllowed) {
  for (const char* text :
       {"", "0", "65536", "-", "4711-", "-4711", "4720-4711", "a", "1-2-3", "0-7"}) {
    const auto range = port_range_from(text);
    ASSERT_FALSE(range.ok()) << text;
    EXPECT_THAT(range.error().message,
                testing::HasSubstr("is not a port; allowed: 1 to 65535, or a range of them"));
  }
}

}  // namespace
}  // namespace gangrun::host
