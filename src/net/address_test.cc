#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "net/address_internal.h"

namespace gangrun::net {
namespace {

using testing::HasSubstr;

TEST(Address, IpAddressesWithTheirPortsAreReadAndWritten) {
  const auto v4 = ip_address("10.0.0.7", 4711);
  const auto v6 = ip_address("fe80::1", 80);
  ASSERT_TRUE(v4.ok() && v6.ok());
  EXPECT_EQ(to_string(*v4), "10.0.0.7:4711");
  EXPECT_EQ(to_string(*v6), "[fe80::1]:80");
  EXPECT_EQ(port_of(v4->storage), 4711);
  EXPECT_EQ(port_of(v6->storage), 80);
  EXPECT_EQ(ip_address("localhost", 1).error().code, base::Code::kInvalidArgument);
}

TEST(Address, AUnixPathOfAnyLengthHasAnAddress) {
  EXPECT_TRUE(unix_address("/tmp/x").ok());
  EXPECT_FALSE(unix_address("").ok());
  std::string folder = "/tmp/gangrun-address-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto missing = unix_address(folder + "/" + std::string(200, 'd') + "/x");
  ASSERT_EQ(::rmdir(folder.c_str()), 0);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr(folder));
  const auto long_name = unix_address("/tmp/" + std::string(200, 'n'));
  ASSERT_FALSE(long_name.ok());
  EXPECT_THAT(long_name.error().message, HasSubstr("too long"));
}

}  // namespace
}  // namespace gangrun::net
