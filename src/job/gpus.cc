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

base::Json to_json(const Gpus& gpus) {
  base::Json list = base::Json::array();
  for (const Gpu& gpu : gpus.list) {
    list.push_back({{"name", gpu.name},
                    {"lock", gpu.lock},
                    {"whole_lock", gpu.whole_lock},
                    {"device", gpu.device}});
  }
  return {{"maker", gpus.maker == GpuMaker::kAmd ? "amd" : "nvidia"}, {"list", list}};
}

base::Result<Gpus> gpus_from_json(const base::Json& json) {
  Gpus gpus;
  GANGRUN_ASSIGN(const auto maker, base::json_member<std::string>(json, "maker"));
  if (maker != "amd" && maker != "nvidia") {
    return base::invalid_argument(base::format("\"maker\" is \"{}\"; allowed: amd, nvidia", maker));
  }
  gpus.maker = maker == "amd" ? GpuMaker::kAmd : GpuMaker::kNvidia;
  const auto list = json.find("list");
  if (list == json.end() || !list->is_array()) {
    return base::invalid_argument("\"list\" of GPUs is missing");
  }
  for (const base::Json& entry : *list) {
    Gpu gpu;
    GANGRUN_ASSIGN(gpu.name, base::json_member<std::string>(entry, "name"));
    GANGRUN_ASSIGN(gpu.lock, base::json_member<std::string>(entry, "lock"));
    GANGRUN_ASSIGN(gpu.whole_lock, base::json_member<std::string>(entry, "whole_lock"));
    GANGRUN_ASSIGN(gpu.device, base::json_member<std::string>(entry, "device"));
    gpus.list.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace gangrun::job
