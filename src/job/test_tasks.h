#pragma once

#include "job/task_id.h"

// The tasks that most tests are about.
namespace gangrun::job {

inline const TaskId kChief{"chief", 0};
inline const TaskId kWorker0{"worker", 0};
inline const TaskId kWorker1{"worker", 1};
inline const TaskId kPs{"ps", 0};
inline const TaskId kEvaluator{"evaluator", 0};
inline const TaskId kTensorboard{"tensorboard", 0};

}  // namespace gangrun::job
