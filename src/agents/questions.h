#pragma once

#include <cstdint>
#include <map>

#include "agents/server.h"
#include "base/result.h"
#include "cluster/question.h"
#include "job/task_id.h"
#include "net/event_loop.h"
#include "wire/messages.h"

namespace gangrun::agents {

// Questions to agents that are not answered yet. Each ends by its answer, with the agent's session,
// or at its limit.
class Questions {
 public:
  // Both outlive it.
  Questions(net::EventLoop& loop, Server& server) : loop_(loop), server_(server) {}

  void ask(const job::TaskId& task, const cluster::Question& question,
           const cluster::OnTaskAnswer& on_answer);
  // An answer that nobody waits for is dropped.
  void on_answer(const job::TaskId& task, const wire::AnswerMessage& answer);
  void on_session_lost(const job::TaskId& task);

 private:
  struct Asked {
    job::TaskId task;
    cluster::OnTaskAnswer on_answer;
    net::Timer limit;
  };

  void finish(std::int64_t id, base::Result<base::Json> said);

  net::EventLoop& loop_;
  Server& server_;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, Asked> asked_;
};

}  // namespace gangrun::agents
