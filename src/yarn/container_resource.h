#pragma once

#include <cstdint>

#include "hadoop/records.h"
#include "job/spec.h"

// The requests to YARN.
namespace gangrun::yarn {

// The memory of a task that names none: YARN has no container without a limit.
inline constexpr std::int64_t kDefaultMemoryMib = 1024;

// The container of a task.
hadoop::Resource resource_of(const job::Resources& resources);

inline constexpr const char* kGpuResource = "yarn.io/gpu";

}  // namespace gangrun::yarn
