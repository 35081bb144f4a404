#include <utility>

#include "agents/desk.h"
#include "base/format.h"

// The keys by which the processes of a gang find each other, and what is told them from outside.
namespace gangrun::agents {

void Desk::handle(wire::SessionId id, Session& session, wire::RendezvousMessage& message,
                  base::Instant) {
  if (!is_current(session, "rendezvous", message.attempt, message.generation)) return;
  const base::Result<> done = rendezvous(id, session, message);
  if (done.ok()) return;
  log_once(Offence::kRendezvous, job::to_string(session.task), done.error().message);
  send(id, wire::RendezvousAnswerMessage{message.attempt, message.id, "", done.error().message});
}

base::Result<> Desk::rendezvous(wire::SessionId id, const Session& session,
                                wire::RendezvousMessage& message) {
  if (message.generation != newest_generation_) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("generation {} is over", message.generation)};
  }
  wire::RendezvousAnswerMessage answer{message.attempt, message.id, "", ""};
  switch (message.action) {
    case wire::RendezvousAction::kGet: {
      const std::string* value = rendezvous_.find(message.key);
      if (value == nullptr) return rendezvous_.wait(message.key, {id, message.attempt, message.id});
      answer.value = *value;
      send(id, answer);
      return {};
    }
    case wire::RendezvousAction::kPut: {
      GANGRUN_ASSIGN(const auto readers, rendezvous_.put(session.task, message.key, message.value));
      send(id, answer);
      tell(readers, message.value);
      return {};
    }
    case wire::RendezvousAction::kDelete: {
      rendezvous_.erase(message.key);
      send(id, answer);
      return {};
    }
  }
  return {};
}

void Desk::tell(const std::vector<RendezvousStore::Reader>& readers, const std::string& value) {
  for (const RendezvousStore::Reader& reader : readers) {
    send(reader.session, wire::RendezvousAnswerMessage{reader.attempt, reader.id, value, ""});
  }
}

base::Result<> Desk::put_key(const std::string& key, std::string value) {
  if (newest_generation_ == 0) {
    return base::Error{base::Code::kFailedPrecondition,
                       "there is no generation yet that could have keys"};
  }
  const std::string told = value;
  // The key belongs to no task: it stays when one is started again.
  GANGRUN_ASSIGN(const auto readers, rendezvous_.put(job::TaskId{}, key, std::move(value)));
  tell(readers, told);
  return {};
}

const std::string* Desk::find_key(const std::string& key) const { return rendezvous_.find(key); }

}  // namespace gangrun::agents
