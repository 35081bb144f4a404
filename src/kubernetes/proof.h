#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace gangrun::kubernetes {

// The bytes of a greeting, of a challenge and of the answer to one.
inline constexpr std::size_t kGreetingBytes = 16;
inline constexpr std::size_t kChallengeBytes = 32;

// The ports of a pod's 127.0.0.1 at which a stream begins with a proof, by how each greets.
inline constexpr std::string_view kRelayGreeting = "gangrun relay 1\n";
inline constexpr std::string_view kAgentGreeting = "gangrun agent 1\n";

// One side's part in the beginning of a stream to a pod: both sides show that they know the same
// secret, and neither tells it. Who may forward ports of the pod without knowing it learns nothing
// that helps, nor does who listens at its port in place of ours (docs/protocols/kubernetes.md). No
// socket, no clock.
class Proof {
 public:
  enum class Side {
    kClient,  // has opened the stream
    kPod,     // listens
  };

  Proof(base::Secret secret, std::string_view greeting, Side side);

  // The bytes that this side sends first; may be empty.
  [[nodiscard]] std::string begin() const;
  // Takes what comes, and gives what is to be sent now. kUnauthenticated: the other side does not
  // know the secret; kDataLoss: it speaks of something else. Nothing is to be sent then.
  base::Result<std::string> take(std::string_view bytes);
  // Both sides have shown it. What came behind the proof is in rest().
  [[nodiscard]] bool is_done() const { return is_done_; }
  [[nodiscard]] std::string_view rest() const { return in_; }

 private:
  [[nodiscard]] std::string answer_of(Side side) const;
  base::Result<std::string> take_greeting();
  base::Result<std::string> take_answer();

  const base::Secret secret_;
  const std::string greeting_;
  const Side side_;
  std::string own_challenge_;
  std::string other_challenge_;  // empty: it has not come
  bool is_done_ = false;
  std::string in_;
};

}  // namespace gangrun::kubernetes
