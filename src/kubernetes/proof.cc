#include "kubernetes/proof.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "net/digests.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kAnswerBytes = 32;

std::string cut(std::string& from, std::size_t bytes) {
  std::string begin = from.substr(0, bytes);
  from.erase(0, bytes);
  return begin;
}

}  // namespace

Proof::Proof(base::Secret secret, std::string_view greeting, Side side)
    : secret_(std::move(secret)),
      greeting_(greeting),
      side_(side),
      own_challenge_(net::random_bytes(kChallengeBytes)) {
  GANGRUN_CHECK(greeting.size() == kGreetingBytes && !secret_.empty(), greeting.size());
}

std::string Proof::begin() const {
  return side_ == Side::kPod ? greeting_ + own_challenge_ : std::string();
}

base::Result<std::string> Proof::take(std::string_view bytes) {
  in_ += bytes;
  if (is_done_) return std::string();
  if (side_ == Side::kPod) return take_answer();
  std::string out;
  if (other_challenge_.empty()) {
    GANGRUN_ASSIGN(out, take_greeting());
  }
  if (!other_challenge_.empty()) {
    GANGRUN_TRY(take_answer());
  }
  return out;
}

base::Result<std::string> Proof::take_greeting() {
  const std::size_t known = std::min(in_.size(), kGreetingBytes);
  if (std::string_view(in_).substr(0, known) != std::string_view(greeting_).substr(0, known)) {
    return base::Error{base::Code::kDataLoss, "another program listens at the port of the pod"};
  }
  if (in_.size() < kGreetingBytes + kChallengeBytes) return std::string();
  in_.erase(0, kGreetingBytes);
  other_challenge_ = cut(in_, kChallengeBytes);
  return own_challenge_ + answer_of(Side::kClient);
}

base::Result<std::string> Proof::take_answer() {
  const bool is_pod = side_ == Side::kPod;
  if (in_.size() < kAnswerBytes + (is_pod ? kChallengeBytes : 0)) return std::string();
  if (is_pod) other_challenge_ = cut(in_, kChallengeBytes);
  const base::Secret right(answer_of(is_pod ? Side::kClient : Side::kPod));
  if (!right.matches(cut(in_, kAnswerBytes))) {
    return base::Error{
        base::Code::kUnauthenticated,
        base::format("{} does not know the secret",
                     is_pod ? "who has connected" : "what listens at the port of the pod")};
  }
  is_done_ = true;
  return is_pod ? answer_of(Side::kPod) : std::string();
}

// The side is a part of it: no answer can be sent back as one's own. The pod's challenge is first.
std::string Proof::answer_of(Side side) const {
  const bool is_pod = side_ == Side::kPod;
  const std::string_view word = side == Side::kPod ? "pod" : "client";
  return net::hmac_sha256(
      secret_.reveal(),
      base::format("{}{}\n{}{}", greeting_, word, is_pod ? own_challenge_ : other_challenge_,
                   is_pod ? other_challenge_ : own_challenge_));
}

}  // namespace gangrun::kubernetes
