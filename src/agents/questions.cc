#include "agents/questions.h"

#include <utility>

#include "base/format.h"

namespace gangrun::agents {

void Questions::ask(const job::TaskId& task, const cluster::Question& question,
                    const cluster::OnTaskAnswer& on_answer) {
  const std::int64_t id = next_id_++;
  const bool is_sent = server_.send_ask(
      task, {.id = id, .kind = question.kind, .about = question.about, .limit = question.limit});
  if (!is_sent) return on_answer(task, base::unavailable("its agent has no connection now"));
  Asked& asked = asked_[id];
  asked.task = task;
  asked.on_answer = on_answer;
  asked.limit = loop_.after(question.limit, [this, id, limit = question.limit] {
    finish(id, base::deadline_exceeded(
                   base::format("its agent did not answer within {}", base::to_words(limit))));
  });
}

void Questions::on_answer(const job::TaskId& task, const wire::AnswerMessage& answer) {
  const auto found = asked_.find(answer.id);
  if (found == asked_.end() || found->second.task != task) return;
  if (answer.refused.empty()) return finish(answer.id, answer.said);
  finish(answer.id, base::Error{base::Code::kFailedPrecondition, answer.refused});
}

void Questions::on_session_lost(const job::TaskId& task) {
  std::vector<std::int64_t> lost;
  for (const auto& [id, asked] : asked_) {
    if (asked.task == task) lost.push_back(id);
  }
  for (const std::int64_t id : lost) {
    finish(id, base::unavailable("the connection to its agent broke"));
  }
}

void Questions::finish(std::int64_t id, base::Result<base::Json> said) {
  const auto ended = asked_.extract(id);
  if (!ended.empty()) ended.mapped().on_answer(ended.mapped().task, std::move(said));
}

}  // namespace gangrun::agents
