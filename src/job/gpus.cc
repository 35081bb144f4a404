#include "job/gpus.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::job {

bool asks_for_gpus(const JobSpec& spec) {
  const std::vector<TaskId> tasks = spec.task_ids();
  return std::any_of(tasks.begin(), tasks.end(), [&spec](const TaskId& task) {
    return spec.find(task.type)->resources_of(task.index).gpus > 0;
  });
}

std::string_view visible_variable(GpuMaker maker) {
  return maker == GpuMaker::kAmd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
}

std::string names_of(const Gpus& gpus) {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus.list) names.push_back(gpu.name);
  return base::format("{}", base::join(names, ","));
}

}  // namespace gangrun::job
