#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agents/barriers.h"
#include "agents/key_log.h"
#include "agents/key_records.h"
#include "base/log.h"
#include "base/result.h"
#include "cluster/far_keys.h"
#include "job/task_id.h"
#include "net/event_loop.h"
#include "wire/key_messages.h"
#include "wire/messages.h"

namespace gangrun::agents {

// Questions that are held at once: so many processes may wait.
inline constexpr std::size_t kMaxHeldQuestions = 200'000;

// Answers what agents ask for the processes of their tasks: the keys of the job, and barriers. What
// it has answered is recorded before (KeyLog), so that it holds for every master of the job.
class KeyDesk {
 public:
  using Answer = std::function<void(const job::TaskId&, wire::AnswerMessage)>;
  using IsTracked = std::function<bool(const job::TaskId&)>;

  // `folder` is made when something is to be kept. `far` may be null; it outlives this, and so do
  // the others.
  KeyDesk(net::EventLoop& loop, base::Logger& logger, std::string folder, cluster::FarKeys* far,
          IsTracked is_tracked, Answer answer);

  // False: it is a question of another kind.
  bool ask(const job::TaskId& task, const wire::AskMessage& question);
  // The task has ended, and has no other run in this generation: `how` goes on after its name.
  void on_task_ended(int generation, const job::TaskId& task, bool is_tracked, std::string how);
  // The questions of its agent are asked again by its next session, or by nobody.
  void on_session_lost(const job::TaskId& task);

 private:
  struct Held {
    std::string key;  // that is waited for; or the name of the barrier
    bool is_barrier = false;
    bool may_return = false;  // its agent asks again at the end, where there is time
    net::Timer limit{};
  };
  struct OnWay {
    std::int64_t number = 0;
    std::optional<std::int64_t> question{};  // that is to be answered; none: its session is lost
  };

  base::Result<> answer_keys(const Asker& asker, const wire::AskMessage& ask);
  base::Result<> answer_barrier(const Asker& asker, const wire::AskMessage& ask);
  void begin(int generation);
  base::Result<> cancel(const Asker& asker, const wire::AskMessage& ask);
  base::Result<> change(const Asker& asker, wire::KeyQuestion question);
  void on_recorded(const KeyChange& change, const base::Result<>& recorded);
  void record_round(int generation, const std::string& barrier, std::int64_t round);
  base::Result<> hold(const Asker& asker, std::string key, bool is_barrier,
                      std::chrono::milliseconds limit);
  void on_limit(const Asker& asker);
  void drop(const Asker& asker);
  void say(const Asker& asker, base::Json said);
  void refuse(const Asker& asker, const base::Error& error);
  base::Result<> read_once();

  net::EventLoop& loop_;
  base::Logger& logger_;
  const IsTracked is_tracked_;
  const Answer answer_;
  KeptKeys kept_;
  KeyLog log_;
  bool was_read_ = false;
  std::map<std::pair<job::TaskId, int>, OnWay> on_way_;  // changes of agents, being recorded
  KeyStore::Coming coming_;                              // what these bring
  std::map<Asker, Held> held_;
  std::set<std::pair<std::string, Asker>> waiting_;  // those of the held that wait for a key
};

}  // namespace gangrun::agents
