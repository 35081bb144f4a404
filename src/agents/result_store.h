#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/far_results.h"
#include "job/task_id.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agents {

// Keeps what the last run of each task has left as its result: a file "TYPE-INDEX" in a folder of
// the job, there when it is whole. With `far`, the last part of a result is answered when it is
// there too, and the file here is gone then.
class ResultStore {
 public:
  using Answer = std::function<void(const job::TaskId&, wire::AnswerMessage)>;

  // `far` may be null; it outlives the store.
  ResultStore(std::string folder, cluster::FarResults* far, Answer answer)
      : folder_(std::move(folder)), far_(far), answer_(std::move(answer)) {}

  // A question of kResultKind. `run` is the attempt that runs, whose end has not been told: nothing
  // of another one is kept. Answered once: at once, or by `far`.
  void ask(const job::TaskId& task, std::optional<int> run, const wire::AskMessage& question);
  // A new run of the task has begun: what an earlier one has left is none of its results.
  void forget(const job::TaskId& task);

 private:
  // A result that is not whole yet.
  struct Growing {
    int attempt = 0;
    base::UniqueFd file;
    std::int64_t size = 0;  // so far
  };

  // `tell` says when the part is kept, or why it is not.
  void add(const job::TaskId& task, const wire::ResultPart& part,
           const std::function<void(base::Result<>)>& tell);
  base::Result<> write(const job::TaskId& task, const wire::ResultPart& part);
  base::Result<> finish(const job::TaskId& task);
  [[nodiscard]] std::string path_of(const job::TaskId& task) const;

  const std::string folder_;
  cluster::FarResults* const far_;
  const Answer answer_;
  std::map<job::TaskId, Growing> growing_;
};

}  // namespace gangrun::agents
