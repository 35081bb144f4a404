#include <utility>

#include "agents/desk.h"

// Questions of either side to the other, whose kinds nobody here knows.
namespace gangrun::agents {

void Desk::handle(wire::SessionId, Session& session, wire::AskMessage& message, base::Instant) {
  output_.event(AgentAsked{session.task, std::move(message)});
}

void Desk::handle(wire::SessionId, Session& session, wire::AnswerMessage& message, base::Instant) {
  output_.event(Answered{session.task, std::move(message)});
}

bool Desk::send_ask(const job::TaskId& task, wire::AskMessage question) {
  const auto [id, session] = session_of(task);
  if (session == nullptr) return false;
  send(id, std::move(question));
  return true;
}

void Desk::send_answer(const job::TaskId& task, wire::AnswerMessage answer) {
  const auto [id, session] = session_of(task);
  if (session != nullptr) send(id, std::move(answer));
}

}  // namespace gangrun::agents
