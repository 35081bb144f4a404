#include "yarn/node/yarn_page.h"

#include <gtest/gtest.h>

namespace gangrun::yarn::node {
namespace {

LogsPlace place() {
  return {.node_host = "n7",
          .node_port = "45454",
          .node_http_port = "8042",
          .application = "application_1_0001",
          .container = "container_1_0001_01_000001",
          .user = "ann"};
}

// YARN showed "N/A" for the tracking URL of a job that had ended.
TEST(LogsUrl, IsThatOfTheLogServerElseOfTheApplicationElseOfTheNode) {
  LogsPlace of = place();
  EXPECT_EQ(logs_url(of), "http://n7:8042/node/containerlogs/container_1_0001_01_000001/ann");
  of.policy = "HTTPS_ONLY";
  EXPECT_EQ(logs_url(of), "https://n7:8042/node/containerlogs/container_1_0001_01_000001/ann");
  of.manager = "http://rm:8088";
  EXPECT_EQ(logs_url(of), "http://rm:8088/cluster/app/application_1_0001");
  for (const char* server :
       {"http://history:19888/jobhistory/logs", "history:19888/jobhistory/logs/"}) {
    of.log_server = server;
    EXPECT_EQ(logs_url(of),
              "http://history:19888/jobhistory/logs/n7:45454/container_1_0001_01_000001/"
              "container_1_0001_01_000001/ann");
  }
}

TEST(LogsUrl, IsNoneWhereYarnHasNotSaidEnough) {
  LogsPlace of = place();
  of.node_http_port = "";
  EXPECT_EQ(logs_url(of), "");
  of = place();
  of.container = "";
  EXPECT_EQ(logs_url(of), "");
}

}  // namespace
}  // namespace gangrun::yarn::node
