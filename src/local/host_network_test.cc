#include "local/host_network.h"

#include <gmock/gmock.h>

namespace gangrun::local {
namespace {

using testing::HasSubstr;

// With namespaces it is tested as a whole, by tests/integration/test_hosts.py.
TEST(HostNetwork, AnUnknownHostIsNamed) {
  const auto looked = look_at_host("gangrun-no-such", "", "");
  ASSERT_FALSE(looked.ok());
  EXPECT_EQ(looked.error().code, base::Code::kNotFound);
  const auto checked = check_hosts({{"gangrun-no-such", 2}}, "", "");
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message,
              HasSubstr("host gangrun-no-such cannot be used: there is no network namespace"));
}

TEST(HostNetwork, WithoutHostsThereIsNothingToCheck) { EXPECT_TRUE(check_hosts({}, "", "").ok()); }

}  // namespace
}  // namespace gangrun::local
