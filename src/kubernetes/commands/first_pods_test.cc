#include "kubernetes/commands/first_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/test_idle_client.h"

namespace gangrun::kubernetes::commands {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Refuses the pods of one type.
class Server final : public kubernetes::IdleClient {
 public:
  explicit Server(net::EventLoop& loop) : IdleClient("lab"), loop_(loop) {}

  [[nodiscard]] kubernetes::ActivityHandle request(
      kubernetes::Request request, base::Instant /*deadline*/,
      std::function<void(ApiAnswer)> on_done) override {
    asked.push_back(std::move(request));
    const bool is_refused = asked.back().body["metadata"]["name"] == refused;
    loop_.post([is_refused, done = std::move(on_done)] {
      if (is_refused) {
        done({base::invalid_argument("strict decoding error: unknown field \"spec.nodeSelectr\""),
              std::nullopt});
      } else {
        done({base::Json::object(), std::nullopt});
      }
    });
    return nullptr;
  }

  std::vector<kubernetes::Request> asked;
  std::string refused;

 private:
  net::EventLoop& loop_;
};

pods::Manifests two_types() {
  pods::ManifestInput input = pods::test::wine_job();
  input.spec.tasks.push_back(pods::test::tasks_of("ps", 2));
  return *pods::Manifests::make(std::move(input));
}

// A typo in `pod:` was found only when the job ran.
TEST(TrialPods, OneOfEachTypeIsCheckedStrictlyAndNoneIsMade) {
  net::EventLoop loop;
  Server server(loop);
  const auto manifests = two_types();
  EXPECT_TRUE(try_pods(loop, server, manifests, loop.now() + base::seconds(10)).ok());
  ASSERT_EQ(server.asked.size(), 2U);
  for (const kubernetes::Request& request : server.asked) {
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/api/v1/namespaces/lab/pods");
    EXPECT_THAT(request.query,
                ElementsAre(Pair("dryRun", "All"), Pair("fieldValidation", "Strict")));
    EXPECT_FALSE(request.body["metadata"].contains("ownerReferences"));
  }
}

TEST(TrialPods, WhatTheServerRefusesIsNamedWithItsPod) {
  net::EventLoop loop;
  Server server(loop);
  const auto manifests = two_types();
  server.refused = manifests.pod_name({"ps", 0});
  const auto tried = try_pods(loop, server, manifests, loop.now() + base::seconds(10));
  ASSERT_FALSE(tried.ok());
  EXPECT_EQ(tried.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(tried.error().message, "Pod " + server.refused +
                                       " cannot be made: strict decoding error: unknown field "
                                       "\"spec.nodeSelectr\"");
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
