#pragma once

#include <cstddef>
#include <string>
#include <tuple>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/task_id.h"
#include "net/client.h"
#include "net/http.h"

// How a task comes by itself, on a place that starts none for us: it asks the registry whether it
// is the one that is awaited, and gets what its agent must know (docs/protocols/registry.md).
namespace gangrun::wire {

inline constexpr std::size_t kMaxExecutorBytes = 200;
inline constexpr std::size_t kMaxJoinHostBytes = 255;
inline constexpr std::size_t kMaxHostReasonBytes = 300;
inline constexpr int kMaxPlacesAttempt = 1'000'000'000;

// The task that comes.
struct JoinRequest {
  job::TaskId task;
  int attempt = 0;          // the place's own number, for people
  std::string executor;     // where of the place, for people; may be empty
  std::string host;         // by which the other tasks know its machine
  std::string host_reason;  // why by this one

  static constexpr auto rows() {
    return std::tuple(
        base::row("task", &JoinRequest::task),
        base::row("attempt", &JoinRequest::attempt, base::Range{0, kMaxPlacesAttempt}),
        base::row("executor", &JoinRequest::executor, base::Bytes{kMaxExecutorBytes}),
        base::row("host", &JoinRequest::host, base::Bytes{kMaxJoinHostBytes}),
        base::row("host_reason", &JoinRequest::host_reason, base::Bytes{kMaxHostReasonBytes}));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const JoinRequest&, const JoinRequest&) = default;
};

enum class JoinState {
  kJoined,       // it is the one: its agent's configuration is in the answer
  kThere,        // the task has an agent: nothing is to be started
  kWasThere,     // it had one, which has ended: likewise
  kUnknownTask,  // the job has none of that name
  kJobHasEnded,
};

struct JoinAnswer {
  JoinState state = JoinState::kJoined;
  base::Json agent_config{};  // see AgentConfig; holds the job's secret
  std::string reason{};       // of all but kJoined

  friend bool operator==(const JoinAnswer&, const JoinAnswer&) = default;
};

net::HttpResponse response_of(const JoinAnswer& answer);

// Blocks until `deadline` at most. An error where there is no answer that counts: nobody listens,
// the secret is wrong, the request is refused as such.
base::Result<JoinAnswer> join(const net::Endpoint& endpoint, const base::Secret& secret,
                              const JoinRequest& request, base::Instant deadline);

}  // namespace gangrun::wire
