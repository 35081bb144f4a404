#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/key_relay.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "job/cluster_spec.h"
#include "net/event_loop.h"
#include "net/server.h"
#include "registry/agent_config.h"
#include "registry/messages.h"

namespace gangrun::agent {

// Names the address of a task's agent to its processes: "127.0.0.1:40311" (docs/variables.md).
inline constexpr const char* kKeysVariable = "GANGRUN_KV";

// The keys of the job and barriers, as the processes of a task see them: HTTP on 127.0.0.1,
// answered by the master. It answers processes of this user and of root only.
class Keys final : private KeyRelayOutput {
 public:
  using Ask = std::function<void(const registry::AskMessage&)>;

  // The references outlive it.
  Keys(net::EventLoop& loop, base::Logger& logger, registry::QuestionNumbers& numbers, Ask ask);
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  base::Result<> listen();
  // Empty: it does not listen.
  [[nodiscard]] std::string address() const;

  // The task is started with this cluster spec.
  void begin_run(const registry::AgentConfig& config, const job::ClusterSpec& spec);
  void on_answer(const registry::AnswerMessage& answer);
  void on_attached();

 private:
  void ask(registry::AskMessage question) override { ask_(question); }
  void answer(KeyTicket ticket, net::HttpResponse response) override;
  void on_request(const net::HttpRequest& request, net::Responder responder);
  [[nodiscard]] std::optional<net::HttpResponse> refusal_of(const net::HttpRequest& request);
  void wait_for_time();

  net::EventLoop& loop_;
  base::Logger& logger_;
  const Ask ask_;
  KeyRelay relay_;
  std::uint16_t port_ = 0;
  bool told_refusal_ = false;
  KeyTicket next_ticket_ = 1;
  std::map<KeyTicket, net::Responder> waiting_;
  net::Timer timer_;
  base::Instant timer_at_;
  net::Server server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agent
