#pragma once

#include <functional>
#include <string>

#include "agent/key_relay.h"
#include "agent/process_server.h"
#include "base/log.h"
#include "base/result.h"
#include "job/cluster_spec.h"
#include "net/event_loop.h"
#include "wire/agent_config.h"
#include "wire/messages.h"

namespace gangrun::agent {

// The keys of the job and barriers, as the processes of a task see them: HTTP on 127.0.0.1,
// answered by the master. It answers processes of this user and of root only.
class Keys final : private KeyRelayOutput {
 public:
  using Ask = std::function<void(const wire::AskMessage&)>;

  // The references outlive it.
  Keys(net::EventLoop& loop, base::Logger& logger, wire::QuestionNumbers& numbers, Ask ask);
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  base::Result<> listen() { return server_.listen(); }
  // Empty: it does not listen.
  [[nodiscard]] std::string address() const;

  // The task is started with this cluster spec.
  void begin_run(const wire::AgentConfig& config, const job::ClusterSpec& spec);
  void on_answer(const wire::AnswerMessage& answer);
  void on_attached();

 private:
  void ask(wire::AskMessage question) override { ask_(question); }
  void answer(KeyTicket ticket, net::HttpResponse response) override;
  void on_request(KeyTicket ticket, const net::HttpRequest& request);

  net::EventLoop& loop_;
  const Ask ask_;
  KeyRelay relay_;
  ProcessServer server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agent
