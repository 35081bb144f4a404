#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubernetes/link_frames.h"
#include "kubernetes/proof.h"
#include "kubernetes/test_idle_client.h"
#include "kubernetes/test_tunnel.h"

// For tests.
namespace gangrun::kubernetes::pods {

// A client that only forwards, to pods of the test.
class ForwardingClient : public IdleClient {
 public:
  explicit ForwardingClient(std::string name_space = "ns") : IdleClient(std::move(name_space)) {}
  std::unique_ptr<Tunnel> forward(std::string name_space, std::string pod, std::uint16_t port,
                                  base::Instant, TunnelCallbacks callbacks) override {
    asked.push_back(name_space + "/" + pod + ":" + std::to_string(port));
    pods.emplace_back();
    return std::make_unique<TestTunnel>(pods.back(), std::move(callbacks));
  }

  std::vector<std::string> asked;
  std::deque<TestPod> pods;
};

// The pod's part in the proof; afterwards only frames are in `sent`.
inline void prove(TestPod& pod, const base::Secret& secret, std::string_view greeting) {
  Proof proof(secret, greeting, Proof::Side::kPod);
  pod.open();
  pod.say(proof.begin());
  const auto answer = proof.take(std::exchange(pod.sent, {}));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  pod.say(*answer);
  EXPECT_TRUE(proof.is_done());
}

// The frames that the pod was sent, as they came.
inline std::vector<std::string> taken_frames(TestPod& pod) {
  std::vector<std::string> frames;
  LinkReader reader;
  reader.add(std::exchange(pod.sent, {}));
  for (auto frame = reader.next(); frame.ok() && *frame; frame = reader.next()) {
    frames.push_back(to_bytes(**frame));
  }
  return frames;
}

}  // namespace gangrun::kubernetes::pods
