#include "kubernetes/commands/job_making.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/format.h"
#include "client/test_context.h"
#include "kubernetes/pods/agent_pods.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/test_api_server_internal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::chrono::seconds kLife(7200);

pods::ManifestInput job_with_agents() {
  pods::ManifestInput input = pods::test::wine_job();
  pods::edit_kubernetes(input.spec).agents = pods::AgentsBy::kImage;
  input.agents = pods::AgentPods{.source = pods::by_image("agents:1")};
  return input;
}

// A namespace as an API server keeps it. `meddle` comes before each request is served, and says
// whether it answers it.
struct JobServer : TestApiServer {
  JobServer() {
    access.name_space = "lab";
    on_request = [this](TestTalk& talk) { serve(talk); };
  }

  void make(std::chrono::seconds renewal = std::chrono::seconds(20)) {
    making = std::make_unique<JobMaking>(
        loop, *logger, client(),
        JobMaking::Plan{
            .manifests = manifests,
            .owner = manifests.owner(std::chrono::seconds(60)),
            .records =
                [this](const pods::Owner& owner) {
                  return std::vector<Json>{
                      pods::object_of(manifests.input(), "v1", "Secret", "wine-secret", owner),
                      pods::object_of(manifests.input(), "v1", "ConfigMap", "wine-head", owner)};
                },
            .lease = std::chrono::seconds(60),
            .renewal = renewal,
            .life = kLife,
            .checked_maps = checked},
        JobMaking::Callbacks{
            .on_owner = [this](const pods::Owner& owner) { owner_uid = owner.uid; },
            .on_made = [this] { is_made = true; },
            .on_gone = [this](const std::string& sentence) { gone = sentence; }});
    making->begin();
  }
  bool run() {
    make();
    return wait([this] { return is_made || !gone.empty(); });
  }
  base::Result<> take_away() {
    std::optional<base::Result<>> done;
    making->take_away([&](base::Result<> how) { done = std::move(how); });
    EXPECT_TRUE(wait([&] { return done.has_value(); })) << making->left();
    return done.value_or(base::internal("it does not end"));
  }
  [[nodiscard]] const Json& owner_object() { return objects[owner_path]; }
  // The place of the first such request.
  [[nodiscard]] std::ptrdiff_t place_of(const std::string& words) const {
    return std::ranges::find(asked, words) - asked.begin();
  }

  client::TestContext test;
  CheckedMaps checked{test.folder()};
  const pods::Manifests manifests = *pods::Manifests::make(job_with_agents());
  const std::string owner_path = pods::owner_path(manifests.input());
  std::map<std::string, Json> objects;  // by path
  int made = 0;
  std::vector<std::string> asked;  // "POST Secret", "PATCH Job"
  std::function<bool(TestTalk& talk, const std::string& request)> meddle;
  std::unique_ptr<JobMaking> making;
  std::string owner_uid;
  bool is_made = false;
  std::string gone;

 private:
  void serve(TestTalk& talk) {
    const Json body = talk.body.empty() ? Json() : base::parse_json(talk.body, 1U << 20U).value();
    if (talk.method == "POST") {
      const std::string request = base::format("POST {}", text_at(body, {"kind"}));
      asked.push_back(request);
      if (meddle && meddle(talk, request)) return;
      return post(talk, body);
    }
    if (talk.method == "PATCH") asked.emplace_back("PATCH Job");
    if (meddle && meddle(talk, talk.method)) return;
    if (talk.query.contains("labelSelector")) return list(talk);
    const auto found = objects.find(talk.path);
    if (found == objects.end()) return talk.refuse(404, "NotFound", "not found");
    const Json object = found->second;
    if (talk.method == "DELETE") {
      objects.clear();
    } else if (talk.method == "PATCH") {
      EXPECT_EQ(talk.field("Content-Type"), "application/merge-patch+json");
      found->second.merge_patch(body);
    }
    talk.answer(talk.method == "PATCH" ? found->second : object);
  }

  void post(TestTalk& talk, Json object) {
    EXPECT_EQ(talk.query["fieldValidation"], "Strict");
    const std::string path = base::format("{}/{}", talk.path, pods::name_of(object));
    if (objects.contains(path)) return talk.refuse(409, "AlreadyExists", "exists");
    object["metadata"]["uid"] = base::format("u-{}", ++made);
    objects[path] = object;
    talk.answer(object);
  }

  void list(TestTalk& talk) {
    Json items = Json::array();
    for (const auto& [path, object] : objects) {
      if (path.starts_with(talk.path + "/")) items.push_back(object);
    }
    talk.answer(Json{{"kind", "List"}, {"items", items}});
  }
};

TEST(JobMaking, MakesTheOwnerFirstAndStartsTheMasterLast) {
  JobServer server;
  ASSERT_TRUE(server.run());
  EXPECT_EQ(server.gone, "");
  EXPECT_EQ(server.asked.front(), "POST Job");
  EXPECT_EQ(server.asked.back(), "PATCH Job");
  EXPECT_EQ(server.place_of("PATCH Job"), static_cast<std::ptrdiff_t>(server.asked.size()) - 1);
  EXPECT_EQ(value_at(server.owner_object(), {"spec", "parallelism"}), 1);
  EXPECT_GE(value_at(server.owner_object(), {"spec", "activeDeadlineSeconds"}).get<int>(),
            kLife.count());
  EXPECT_EQ(server.owner_uid, pods::uid_of(server.owner_object()));
  for (const auto& [path, object] : server.objects) {
    if (path == server.owner_path) continue;
    EXPECT_TRUE(pods::is_owned_by(object, {pods::name_of(server.owner_object()), "u-1"})) << path;
  }
}

TEST(JobMaking, LeavesNothingWhereOneStepIsRefused) {
  for (const char* step : {"POST Job", "POST Secret", "POST ConfigMap", "POST Service", "PATCH"}) {
    JobServer server;
    server.meddle = [step](TestTalk& talk, const std::string& request) {
      if (request != step) return false;
      talk.refuse(403, "Forbidden", "is not allowed to do this");
      return true;
    };
    ASSERT_TRUE(server.run()) << step;
    EXPECT_FALSE(server.is_made) << step;
    EXPECT_THAT(server.gone, HasSubstr("is not allowed to do this")) << step;
    EXPECT_TRUE(server.take_away().ok()) << step;
    EXPECT_THAT(server.objects, IsEmpty()) << step;
  }
}

TEST(JobMaking, IsTakenAwayWhileItIsUnderWay) {
  JobServer server;
  bool has_asked = false;
  server.meddle = [&](TestTalk&, const std::string& request) {
    has_asked = has_asked || request == "POST Secret";
    return request == "POST Secret";  // which nobody answers
  };
  server.make();
  ASSERT_TRUE(server.wait([&] { return has_asked && server.objects.size() > 1; }));
  EXPECT_TRUE(server.take_away().ok());
  EXPECT_THAT(server.objects, IsEmpty());
  EXPECT_EQ(server.gone, "");
}

// The lease is moved meanwhile; a renewal that is not answered yet must not come after the start.
TEST(JobMaking, KeepsTheOwnerAndWaitsForItsRenewal) {
  JobServer server;
  TestTalk* secret = nullptr;
  TestTalk* renewal = nullptr;
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request == "POST Secret" && secret == nullptr) {
      secret = &talk;
      return true;
    }
    if (request == "PATCH" && renewal == nullptr) {
      renewal = &talk;
      return true;
    }
    return false;
  };
  server.make(std::chrono::seconds(1));
  ASSERT_TRUE(server.wait([&] { return secret != nullptr && renewal != nullptr; }));
  EXPECT_THAT(renewal->body, HasSubstr("activeDeadlineSeconds"));
  EXPECT_THAT(renewal->body, testing::Not(HasSubstr("parallelism")));
  secret->answer(Json{{"kind", "Secret"}, {"metadata", {{"uid", "u-9"}}}});
  const auto renewals = std::ranges::count(server.asked, "PATCH Job");
  (void)server.loop.run_until([] { return false; },
                              server.loop.now() + std::chrono::milliseconds(200));
  EXPECT_EQ(std::ranges::count(server.asked, "PATCH Job"), renewals);
  EXPECT_FALSE(server.is_made);
  renewal->answer(server.owner_object());
  EXPECT_TRUE(server.wait([&] { return server.is_made; }));
  EXPECT_EQ(server.gone, "");
}

TEST(JobMaking, TakesItsOwnUnansweredTryForMade) {
  JobServer server;
  const std::string path = "/api/v1/namespaces/lab/secrets/wine-secret";
  std::string owner_in_cluster = "u-1";
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "POST Secret") {
      server.objects[path] =
          pods::object_of(server.manifests.input(), "v1", "Secret", "wine-secret",
                          {pods::owner_name(server.manifests.input()), owner_in_cluster});
    }
    return false;
  };
  ASSERT_TRUE(server.run());
  EXPECT_EQ(server.gone, "");

  JobServer other;
  other.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "POST Secret") {
      other.objects[path] = pods::object_of(other.manifests.input(), "v1", "Secret", "wine-secret",
                                            {"somebody", "u-77"});
    }
    return false;
  };
  ASSERT_TRUE(other.run());
  EXPECT_THAT(other.gone, StartsWith("Secret wine-secret exists but does not belong to this job"));
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
