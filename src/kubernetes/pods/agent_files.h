#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "cluster/fetched_files.h"

// Files of the client that are too many or too large for config maps: where tasks have agents,
// these fetch them from their master.
namespace gangrun::kubernetes::pods {

struct ManifestInput;

inline constexpr std::size_t kMaxFetchedFiles = 10'000;
inline constexpr std::uint64_t kMaxFetchedBytes = std::uint64_t{16} << 30U;

// kInvalidArgument where files are too many, or too large together.
base::Result<> check_fetched(std::size_t files, std::uint64_t bytes);
// The same of what the job's agents are to fetch, and where a name is that of another file.
base::Result<> check_fetched(const ManifestInput& input);

// The files with their digests. Reads them all; `progress` hears how much of each is read.
base::Result<cluster::FetchedFiles> with_digests(
    cluster::FetchedFiles files,
    const std::function<void(const cluster::FetchedFile& file, std::uint64_t read)>& progress);

// A quantity of Kubernetes ("1Gi") and `bytes` more; none where it is not understood.
std::optional<std::string> with_more(std::string_view quantity, std::uint64_t bytes);
// Adds `bytes` of ephemeral storage to what this container of the pod asks for and may have, if it
// says so.
void ask_for_storage(std::uint64_t bytes, const std::string& container, base::Json& pod);

// Says what is sent to the pods, when, and what that takes; empty: nothing is.
std::string how_files_come(const ManifestInput& input);

}  // namespace gangrun::kubernetes::pods
