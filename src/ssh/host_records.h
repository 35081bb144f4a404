#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "job/choice.h"

namespace gangrun::ssh {

// Which files that tasks have written on a host are there and not here.
enum class Rest {
  kNothing,
  kOverLimit,  // what is over the limit of what each host brings
  kAll,        // or some of it: it was not brought, or not to its end
};
constexpr auto choice_of(Rest) {
  using enum Rest;
  return job::choice<Rest>("what a host has",
                           {{kNothing, "nothing"}, {kOverLimit, "over_limit"}, {kAll, "all"}});
}
inline std::string_view to_string(Rest rest) { return job::to_string(rest); }

// The files that a job has, or may have, on a host.
struct HostRecord {
  std::string host;         // as the user calls it
  std::string run_folder;   // a name
  std::string path;         // of it, on the host
  bool works_here = false;  // whether its tasks work in the client's folder
  Rest rest = Rest::kAll;
  // For a rest over the limit: its size, as the host said; and the names that came whatever their
  // size.
  std::uint64_t over_bytes = 0;
  std::vector<std::string> names{};
  std::string odd{};  // what cannot be brought, in words; empty: nothing

  static constexpr bool kIsOpen = true;
  // Older versions did not write the late ones.
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, HostRecord, host, run_folder, path, works_here),
                      GANGRUN_EACH(base::late_row, HostRecord, rest, over_bytes, names, odd));
  }

  friend bool operator==(const HostRecord&, const HostRecord&) = default;
};

// In a file of the job's folder: for the next master of the job, and for who removes the job.
// Without records there is no file. Who changes the records of an ended job holds their lock.
base::Result<> write_host_records(const std::string& path, const std::vector<HostRecord>& records);
base::Result<std::vector<HostRecord>> read_host_records(const std::string& path);

// The lock of the records at `path`, as long as it is open; none: another one has it.
base::Result<std::optional<base::UniqueFd>> lock_host_records(const std::string& path);

}  // namespace gangrun::ssh
