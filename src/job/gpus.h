#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/described.h"
#include "job/choice.h"
#include "job/spec.h"

namespace gangrun::job {

enum class GpuMaker { kNvidia, kAmd };
constexpr auto choice_of(GpuMaker) {
  using enum GpuMaker;
  return choice<GpuMaker>("a maker of GPUs", {{kNvidia, "nvidia"}, {kAmd, "amd"}});
}

// The unit that one task has at a time: a GPU, or a part of one (MIG).
struct Gpu {
  // As the driver knows it: its UUID, or its number among those that programs see.
  std::string name;
  // The name of the file by which a task has it, the same for everybody who asks for this GPU.
  std::string lock;
  std::string whole_lock;  // of a part: that of the GPU, which its parts share
  std::string device;      // what an image must be given beside it (AMD)

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(Gpu, name, lock, whole_lock, device);

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// The GPUs of a machine, or of a task.
struct Gpus {
  GpuMaker maker = GpuMaker::kNvidia;
  std::vector<Gpu> list;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(Gpus, maker, list);

  friend bool operator==(const Gpus&, const Gpus&) = default;
};

// Whether any of its tasks does, spares among them.
bool asks_for_gpus(const JobSpec& spec);

// The variable that says which GPUs a program may use: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES.
std::string_view visible_variable(GpuMaker maker);

// Their names with commas, as that variable has them.
std::string names_of(const Gpus& gpus);

}  // namespace gangrun::job
