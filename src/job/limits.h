#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

// The limits of all jobs. More is refused with the limit in the error.
namespace gangrun::job {

// A job takes as long as it takes, its own time limits end it; but no wait is without an end.
inline constexpr std::chrono::hours kLongestJob{24 * 366 * 10};
inline constexpr int kMaxVcoresPerTask = 4096;
inline constexpr int kMaxGpusPerTask = 1024;
inline constexpr std::size_t kMaxOtherResources = 64;  // of one task
inline constexpr std::size_t kMaxResourceNameBytes = 255;
inline constexpr std::int64_t kMaxResourceAmount = std::int64_t{1} << 50U;
inline constexpr int kMaxProcesses = 100'000;  // of all tasks together
inline constexpr int kMaxTaskTypes = 256;
inline constexpr int kMaxRestarts = 1000;
inline constexpr std::size_t kMaxLabelBytes = 255;
inline constexpr std::size_t kMaxHosts = 1000;
inline constexpr std::size_t kMaxImageBytes = 255;
inline constexpr std::size_t kMaxMounts = 64;
inline constexpr std::size_t kMaxZooKeeperHosts = 32;
inline constexpr std::size_t kMaxFiles = 10'000;
// The longest path of a file in a task's folder: of a name between slashes (Linux: NAME_MAX), and
// of all. The folder has the rest of Linux's PATH_MAX.
inline constexpr std::size_t kMaxFileNamePartBytes = 255;
inline constexpr std::size_t kMaxFileNameBytes = 3072;
inline constexpr std::size_t kMaxOutputs = 64;                 // of the job, or of one task type
inline constexpr std::size_t kMaxArchives = 64;                // of the job, or of one task type
inline constexpr std::size_t kMaxEnvironmentVariables = 1000;  // of the job, or of one task type
inline constexpr std::size_t kMaxNameBytes = 63;
inline constexpr std::size_t kMaxInterfaceBytes =
    64;  // an interface's name, or an address with /length
inline constexpr std::size_t kMaxVariableNameBytes = 256;
inline constexpr std::size_t kMaxCommandWords = 4096;
inline constexpr std::size_t kMaxTextBytes = std::size_t{128} * 1024;  // Linux: MAX_ARG_STRLEN

}  // namespace gangrun::job
