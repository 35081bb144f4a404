#pragma once

#include <functional>
#include <vector>

#include "cluster/question.h"
#include "job/task_id.h"

namespace gangrun::cluster {

struct AskableTask {
  job::TaskId task;
  bool runs = false;
};

// Puts the answer to `question` together. `tasks` are all of the job, in its order; `ask` is called
// once, with the question to those that run and are meant, unless there are none. `on_answer` is
// called once, when each has answered.
void ask_tasks(const Question& question, const std::vector<AskableTask>& tasks, OnAnswer on_answer,
               const std::function<void(const Question&, const OnTaskAnswer&)>& ask);

}  // namespace gangrun::cluster
