#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cluster/brought_files.h"
#include "job/task_id.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agents {

// Keeps what the last run of each task has left as its outputs: files of a folder "TYPE-INDEX" of
// the job. Whoever sends them may be hostile (cluster::BroughtFiles).
class OutputStore {
 public:
  using Answer = std::function<void(const job::TaskId&, wire::AnswerMessage)>;
  // All has come; `lost`: but for this, and why.
  using Over = std::function<void(const job::TaskId&, std::string lost)>;

  // `limit`: of the bytes of a task's outputs; 0: none but the disk's. Without a folder none are
  // kept.
  OutputStore(std::string folder, std::uint64_t limit, Answer answer, Over on_over)
      : folder_(std::move(folder)),
        limit_(limit),
        answer_(std::move(answer)),
        on_over_(std::move(on_over)) {}

  // A question of kOutputsKind. `run` is the task's last attempt of which a run began: nothing of
  // another one is kept. It is answered at once. What an earlier run has left goes when the first
  // part comes.
  void ask(const job::TaskId& task, std::optional<int> run, const wire::AskMessage& question);
  // A new run of the task has begun: nothing more comes of an earlier one.
  void forget(const job::TaskId& task) { growing_.erase(task); }

 private:
  // Outputs that have not all come.
  struct Growing {
    int attempt = 0;
    std::int64_t next = 0;  // the number of the next part
    std::unique_ptr<cluster::BroughtFiles> files;
  };

  base::Result<wire::OutputsKept> take(const job::TaskId& task, std::optional<int> run,
                                       const wire::OutputsPart& part);
  base::Result<Growing*> begun(const job::TaskId& task, const wire::OutputsPart& part);
  base::Result<> write(cluster::BroughtFiles& files, const wire::OutputPiece& piece);
  [[nodiscard]] base::Result<> check_room(std::int64_t bytes) const;

  const std::string folder_;
  const std::uint64_t limit_;
  const Answer answer_;
  const Over on_over_;
  std::map<job::TaskId, Growing> growing_;
};

}  // namespace gangrun::agents
