#include <utility>

#include "agents/desk.h"

// Questions of either side to the other, whose kinds nobody here knows.
namespace gangrun::agents {

void Desk::handle(registry::SessionId, Session& session, registry::AskMessage& message,
                  base::Instant) {
  output_.event(Asked{session.task, std::move(message)});
}

void Desk::handle(registry::SessionId, Session& session, registry::AnswerMessage& message,
                  base::Instant) {
  output_.event(Answered{session.task, std::move(message)});
}

bool Desk::send_ask(const job::TaskId& task, registry::AskMessage question) {
  const auto [id, session] = session_of(task);
  if (session == nullptr) return false;
  send(id, std::move(question));
  return true;
}

void Desk::send_answer(const job::TaskId& task, registry::AnswerMessage answer) {
  const auto [id, session] = session_of(task);
  if (session != nullptr) send(id, std::move(answer));
}

}  // namespace gangrun::agents
