#include "kubernetes/proof.h"

#include <gtest/gtest.h>

#include <string>

#include "net/digests.h"

namespace gangrun::kubernetes {
namespace {

const base::Secret kToken("0123456789abcdef0123456789abcdef");

Proof client_of(const base::Secret& secret = kToken) {
  return {secret, kRelayGreeting, Proof::Side::kClient};
}
Proof pod_of(const base::Secret& secret = kToken, std::string_view greeting = kRelayGreeting) {
  return {secret, greeting, Proof::Side::kPod};
}

std::string given(base::Result<std::string> taken) {
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  return taken.ok() ? *taken : "";
}

TEST(Proof, BothSidesShowThatTheyKnowTheSecret) {
  Proof pod = pod_of();
  Proof client = client_of();
  EXPECT_EQ(client.begin(), "");
  const std::string asked = given(client.take(pod.begin()));
  EXPECT_FALSE(client.is_done());
  const std::string shown = given(pod.take(asked + "frames of the client"));
  EXPECT_TRUE(pod.is_done());
  EXPECT_EQ(pod.rest(), "frames of the client");
  EXPECT_EQ(given(client.take(shown + "frames of the pod")), "");
  EXPECT_TRUE(client.is_done());
  EXPECT_EQ(client.rest(), "frames of the pod");
}

TEST(Proof, ComesInPiecesOfAnySize) {
  Proof pod = pod_of();
  Proof client = client_of();
  std::string to_pod;
  for (const char byte : pod.begin()) to_pod += given(client.take(std::string(1, byte)));
  std::string to_client;
  for (const char byte : to_pod) to_client += given(pod.take(std::string(1, byte)));
  for (const char byte : to_client) EXPECT_EQ(given(client.take(std::string(1, byte))), "");
  EXPECT_TRUE(pod.is_done());
  EXPECT_TRUE(client.is_done());
  EXPECT_EQ(pod.rest(), "");
}

TEST(Proof, HasTheBytesThatAreWrittenDown) {
  Proof pod = pod_of();
  const std::string greeted = pod.begin();
  ASSERT_EQ(greeted.size(), 48U);
  const std::string challenge = greeted.substr(16);
  const std::string own(32, 'c');
  const std::string words = "gangrun relay 1\n";
  EXPECT_EQ(greeted.substr(0, 16), words);
  const std::string shown = given(
      pod.take(own + net::hmac_sha256(kToken.reveal(), words + "client\n" + challenge + own)));
  EXPECT_EQ(shown, net::hmac_sha256(kToken.reveal(), words + "pod\n" + challenge + own));
}

TEST(Proof, WhoDoesNotKnowTheSecretIsFoundByEither) {
  const base::Secret wrong("another");
  Proof pod = pod_of();
  Proof stranger = client_of(wrong);
  const auto refused = pod.take(given(stranger.take(pod.begin())));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kUnauthenticated);
  EXPECT_FALSE(pod.is_done());
  Proof client = client_of();
  (void)given(client.take(pod_of(wrong).begin()));
  const auto played = client.take(std::string(32, 'x'));
  ASSERT_FALSE(played.ok());
  EXPECT_EQ(played.error().code, base::Code::kUnauthenticated);
  EXPECT_FALSE(client.is_done());
}

// A listener that has no secret could send back what the client has shown it.
TEST(Proof, TheOtherSidesOwnAnswerIsNone) {
  Proof client = client_of();
  const std::string asked = given(client.take(pod_of().begin()));
  EXPECT_FALSE(client.take(asked.substr(32)).ok());
}

TEST(Proof, AnAnswerOfAnotherTimeIsNone) {
  Proof first = pod_of();
  Proof client = client_of();
  const std::string asked = given(client.take(first.begin()));
  EXPECT_TRUE(first.take(asked).ok());
  EXPECT_FALSE(pod_of().take(asked).ok());
}

TEST(Proof, AnotherProgramIsNotAsked) {
  Proof client = client_of();
  const auto other = client.take("HTTP/1.1 400 Bad Request\r\n");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, base::Code::kDataLoss);
  Proof again = client_of();
  EXPECT_FALSE(again.take(pod_of(kToken, kAgentGreeting).begin()).ok());
}

}  // namespace
}  // namespace gangrun::kubernetes
