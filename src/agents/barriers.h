#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "job/task_id.h"
#include "wire/key_messages.h"

namespace gangrun::agents {

// The tasks that a refusal names.
inline constexpr std::size_t kMaxEndedNamed = 8;

// A process that asks: its task, and the number of its agent's question.
using Asker = std::pair<job::TaskId, std::int64_t>;

// The barriers of one generation. A barrier is used in rounds: who comes while a round is open
// waits for it, and goes on when so many tasks wait there at once, or each tracked one. A process
// is there as long as its question is: one that was asked twice, by one session after the other,
// counts once, and one that is taken back does not count. No clock, no file.
class Barriers {
 public:
  enum class Next {
    kAnswer,  // at once, with `answer`
    kWait,    // until its round is complete, or it is taken back
    kRecord,  // that this round is complete; then release()
  };
  struct Step {
    Next next = Next::kWait;
    wire::BarrierAnswer answer{};  // of kRecord: which round
  };

  // kFailedPrecondition: of a generation that is over, for more tasks than there are, or the
  // barrier waits for another number of tasks. kResourceExhausted: too many names.
  // `is_tracked`: the asker's task. At a barrier of the tracked tasks, others wait and do not
  // count.
  base::Result<Step> come(const Asker& asker, const wire::BarrierQuestion& question,
                          bool is_tracked = true);
  // The completion of this round is recorded, or was by an earlier master; whom to tell.
  std::vector<Asker> release(int generation, const std::string& name, std::int64_t round);
  // Its completion could not be recorded: nobody may go on. Those who do not.
  std::vector<Asker> refuse(int generation, const std::string& name, std::int64_t round);

  // A task has ended, and has no other run in the generation that is now.
  struct Ended {
    job::TaskId task;
    bool is_tracked = false;
    std::string how;  // goes on after its name
  };
  struct Hopeless {
    std::vector<Asker> askers;  // who are still there
    wire::BarrierAnswer answer;
  };
  // The barriers at which so many as they wait for cannot come any more.
  std::vector<Hopeless> end(Ended ended);

  // The asker does not wait any more.
  void take_back(const Asker& asker);
  // All of a generation that has ended; their askers. Later ones of it are refused.
  std::vector<Asker> begin(int generation);

  // Tells who has come and who cannot, for an asker who is there and is to be answered before its
  // round is released. Processes whose time ended while it waited have come too.
  [[nodiscard]] wire::BarrierAnswer answer_to(const Asker& asker) const;
  // The same when its time is over: it does not wait any more. With `may_return`, its agent may ask
  // once more for the same wait.
  wire::BarrierAnswer time_out(const Asker& asker, bool may_return);
  // Its round is complete, and is being recorded.
  [[nodiscard]] bool is_leaving(const Asker& asker) const;

  [[nodiscard]] int generation() const { return generation_; }
  // The last round of each barrier that was released.
  [[nodiscard]] std::map<std::string, std::int64_t> released() const;

 private:
  struct OfTask {
    std::map<int, int> processes{};  // that are there, and by how many questions
    int wanted = 1;                  // so many must come
    bool counts = true;              // for the barrier

    [[nodiscard]] bool has_come() const { return counts && std::ssize(processes) >= wanted; }
  };
  struct Here {
    int process = 0;
    std::int64_t since = 0;  // which of the barrier's moves
  };
  // A process whose time is over.
  struct Late {
    std::int64_t since = 0;
    std::int64_t left = 0;
    int wanted = 1;  // of its task
    bool may_return = false;
  };
  struct Barrier {
    int wanted = 0;             // tasks, as who waits now has it
    int of = 0;                 // likewise
    bool tracked = false;       // likewise
    std::int64_t released = 0;  // rounds whose completion is recorded
    std::int64_t complete = 0;  // no fewer; what is more is being recorded
    std::map<Asker, Here> here{};
    std::map<job::TaskId, OfTask> tasks{};
    int come = 0;                             // of these
    std::map<Asker, std::int64_t> leaving{};  // those of complete rounds that are not released
    std::int64_t moves = 0;                   // who has come or left in time, counted
    // Those of the open round, by task and process, while one of them waits.
    std::map<std::pair<job::TaskId, int>, Late> late{};
  };

  static base::Result<> agree(Barrier& barrier, const wire::BarrierQuestion& question);
  static void add(Barrier& barrier, const Asker& asker, const wire::BarrierQuestion& question,
                  bool is_tracked);
  static void remove(Barrier& barrier, const Asker& asker);

  [[nodiscard]] bool is_hopeless(const Barrier& barrier) const;
  [[nodiscard]] wire::BarrierAnswer hopeless_answer(const Barrier& barrier) const;

  int generation_ = 0;
  std::map<job::TaskId, Ended> ended_;
  int ended_tracked_ = 0;  // of these
  std::map<std::string, Barrier> barriers_;
  std::map<Asker, std::string> at_;  // the barrier of each asker
};

}  // namespace gangrun::agents
