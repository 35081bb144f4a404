#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "net/http.h"
#include "wire/agent_config.h"
#include "wire/key_messages.h"

// The requests of processes to their task's agent by HTTP, and its answers
// (docs/protocols/keys.md).
namespace gangrun::agent {

inline constexpr std::chrono::milliseconds kDefaultKeyWait = std::chrono::minutes(10);

// The run, as its agent knows it, whose processes ask.
struct KeyRun {
  int attempt = 1;  // of the agent
  int generation = 1;
  int processes = 1;
  struct Group {
    std::string type;
    int count = 0;
    std::vector<int> members{};  // their indexes; empty: from 0 on
  };
  // The tracked tasks of the generation: those that a barrier waits for where nothing else is said.
  int tasks = 1;
  std::vector<Group> tracked{};
  int all = 1;  // with those that are not tracked:
  std::vector<Group> others{};
};

// The run of this task with this cluster spec.
KeyRun key_run_of(const wire::AgentConfig& config, const job::ClusterSpec& spec);

// A request for a key, or one to wait at a barrier.
struct KeyRequest {
  std::optional<wire::KeyQuestion> key{};
  std::optional<wire::BarrierQuestion> barrier{};
  std::chrono::milliseconds wait{0};

  [[nodiscard]] bool waits() const {
    return barrier.has_value() || key->action == wire::KeyAction::kWait;
  }
  // Changes are asked one after the other.
  [[nodiscard]] bool is_change() const {
    return key && (key->action == wire::KeyAction::kPut || key->action == wire::KeyAction::kDelete);
  }
};

// An error of kInvalidArgument names what is wrong; kNotFound: another path; kResourceExhausted: a
// value that is too large.
base::Result<KeyRequest> key_request(const net::HttpRequest& request, const KeyRun& run);

// The answer to a request that is in error.
net::HttpResponse key_refusal(const net::HttpRequest& request, const base::Error& error);

// The answer to a request of a key; of a wait, one whose time is over.
net::HttpResponse key_response(const KeyRequest& request, const wire::KeyAnswer& answer);
// The same at a barrier. Says who has not come.
net::HttpResponse barrier_response(const KeyRequest& request, const wire::BarrierAnswer& answer,
                                   const KeyRun& run);
net::HttpResponse key_error(int status, std::string_view sentence);

}  // namespace gangrun::agent
