#include "kubernetes/pods/kueue_look.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kubernetes/test_idle_client.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

// Answers what it has by the path, else that there is no such thing.
class QueueServer final : public IdleClient {
 public:
  explicit QueueServer(net::EventLoop& loop) : loop_(loop) {}

  ActivityHandle request(Request request, base::Instant,
                         std::function<void(ApiAnswer)> on_done) override {
    struct Answering final : Activity {
      net::Timer timer;
    };
    asked.push_back(request.path);
    auto answering = std::make_unique<Answering>();
    answering->timer = loop_.after(base::Duration(0), [this, path = request.path, on_done] {
      const auto tell = on_done;
      const auto found = answers.find(path);
      tell({.object = found != answers.end() ? base::Result<Json>(found->second) : refusal,
            .refusal = {}});
    });
    return answering;
  }

  std::map<std::string, Json> answers;
  base::Error refusal = base::not_found("no such thing");
  std::vector<std::string> asked;

 private:
  net::EventLoop& loop_;
};

struct Looking {
  explicit Looking(QueueServer& server, net::EventLoop& loop)
      : look(loop, server, {"lab", "ml", "mine"},
             [this](std::string words) { told.push_back(std::move(words)); }) {}

  bool wait(net::EventLoop& loop) {
    return loop.run_until([this] { return !told.empty(); }, loop.now() + base::seconds(10));
  }

  std::vector<std::string> told;
  KueueLook look;
};

const std::string kWaitingPath =
    "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/lab/localqueues/ml/pendingworkloads";

TEST(KueueLook, AsksAnOlderKueueInItsOwnVersion) {
  net::EventLoop loop;
  QueueServer server(loop);
  server.answers[kWaitingPath] = {
      {"items", {{{"metadata", {{"name", "a"}}}}, {{"metadata", {{"name", "b"}}}}}}};
  Looking looking(server, loop);
  looking.look.watch(true);
  looking.look.watch(true);
  ASSERT_TRUE(looking.wait(loop));
  EXPECT_EQ(looking.told.front(), "queue ml does not count it yet");
  EXPECT_EQ(server.asked.size(), 6U) << "each once in each version";
}

TEST(KueueLook, AMissingRightIsNoTrouble) {
  net::EventLoop loop;
  QueueServer server(loop);
  server.refusal = {base::Code::kPermissionDenied, "you may not"};
  Looking looking(server, loop);
  looking.look.watch(true);
  ASSERT_TRUE(looking.wait(loop));
  EXPECT_EQ(looking.told.front(), "it waits in queue ml");
  EXPECT_EQ(server.asked.size(), 3U);
}

TEST(KueueLook, NothingIsToldToWhoDoesNotWaitAnyMore) {
  net::EventLoop loop;
  QueueServer server(loop);
  Looking looking(server, loop);
  looking.look.watch(true);
  looking.look.watch(false);
  const bool is_told =
      loop.run_until([&] { return !looking.told.empty(); }, loop.now() + base::milliseconds(20));
  EXPECT_FALSE(is_told);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
