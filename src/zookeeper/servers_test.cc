#include "zookeeper/servers.h"

#include <gtest/gtest.h>

namespace gangrun::zookeeper {
namespace {

TEST(Servers, HaveAHostAndAPort) {
  EXPECT_EQ(parse_server("zk1:2182"), (ServerAddress{"zk1", "2182"}));
  EXPECT_EQ(parse_server("[fd00::5]:2182"), (ServerAddress{"fd00::5", "2182"}));
}

TEST(Servers, WithoutAPortItIsTheOneOfZooKeeper) {
  EXPECT_EQ(parse_server("127.0.0.1"), (ServerAddress{"127.0.0.1", "2181"}));
  EXPECT_EQ(parse_server("[::1]"), (ServerAddress{"::1", "2181"}));
}

TEST(Servers, AreWrittenAsTheyAreRead) {
  for (const char* text : {"zk1:2182", "[fd00::5]:2182"}) {
    EXPECT_EQ(to_string(parse_server(text)), text);
  }
}

}  // namespace
}  // namespace gangrun::zookeeper
