#include "kubernetes/node/own_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/test_api_server_internal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::node {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<pods::Right> kRights = {
    {"create", "", "pods"}, {"patch", "", "configmaps"}, {"get", "batch", "jobs"}};

// Allows all but this verb.
void review(TestTalk& talk, const std::string& but) {
  const base::Json asked = base::parse_json(talk.body, 10'000).value();
  const std::string verb = text_at(asked, {"spec", "resourceAttributes", "verb"});
  talk.answer(
      base::Json{{"kind", "SelfSubjectAccessReview"}, {"status", {{"allowed", verb != but}}}});
}

TEST(OwnRights, AllThatLackAreNamed) {
  TestApiServer server;
  server.on_request = [](TestTalk& talk) { review(talk, "patch"); };
  const auto checked =
      check_own_rights(server.loop, server.client(), "lab", kRights, server.deadline());
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, base::Code::kPermissionDenied);
  EXPECT_THAT(checked.error().message, HasSubstr("patch configmaps"));
  EXPECT_THAT(checked.error().message, HasSubstr("'lab'"));
  EXPECT_THAT(checked.error().message, Not(HasSubstr("pods")));
  server.on_request = [](TestTalk& talk) { review(talk, ""); };
  EXPECT_TRUE(
      check_own_rights(server.loop, server.client(), "lab", kRights, server.deadline()).ok());
}

TEST(OwnRights, AServerThatDoesNotSayIsNoRefusal) {
  TestApiServer server;
  server.on_request = [](TestTalk&) {};
  const auto checked = check_own_rights(server.loop, server.client(), "lab", kRights,
                                        server.loop.now() + std::chrono::milliseconds(200));
  EXPECT_EQ(checked.error().code, base::Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace gangrun::kubernetes::node
