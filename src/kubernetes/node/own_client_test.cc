#include "kubernetes/node/own_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/test_log.h"

namespace gangrun::kubernetes::node {
namespace {

TEST(OwnClient, IsOfAPodAndOfNoKubeconfig) {
  ::setenv("KUBECONFIG", "/a/kubeconfig", 1);
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  net::EventLoop loop;
  base::LogRecorder log;
  const auto client = client_of_pod(loop, log);
  ::unsetenv("KUBECONFIG");
  ASSERT_FALSE(client.ok());
  EXPECT_THAT(client.error().message, testing::Not(testing::HasSubstr("/a/kubeconfig")));
}

}  // namespace
}  // namespace gangrun::kubernetes::node
