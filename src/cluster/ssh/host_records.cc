#include "cluster/ssh/host_records.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"

namespace gangrun::cluster {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;

base::Result<HostRecord> record_from(const base::Json& json) {
  HostRecord record;
  GANGRUN_ASSIGN(record.host, base::json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(record.run_folder, base::json_member<std::string>(json, "run_folder"));
  GANGRUN_ASSIGN(record.path, base::json_member<std::string>(json, "path"));
  GANGRUN_ASSIGN(record.works_here, base::json_member<bool>(json, "works_here"));
  // An older version did not write these.
  GANGRUN_ASSIGN(const auto rest, base::json_member_or<std::string>(json, "rest", "all"));
  GANGRUN_ASSIGN(record.rest, job::choice_from<Rest>(rest));
  GANGRUN_ASSIGN(record.over_bytes, base::json_member_or<std::uint64_t>(json, "over_bytes", 0));
  GANGRUN_ASSIGN(record.names, base::json_member_or<std::vector<std::string>>(json, "names", {}));
  GANGRUN_ASSIGN(record.odd, base::json_member_or<std::string>(json, "odd", ""));
  return record;
}

}  // namespace

std::string_view to_string(Rest rest) {
  switch (rest) {
    case Rest::kNothing: return "nothing";
    case Rest::kOverLimit: return "over_limit";
    case Rest::kAll: return "all";
  }
  return "all";
}

base::Result<> write_host_records(const std::string& path, const std::vector<HostRecord>& records) {
  if (records.empty()) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    return base::from_errno(errno, base::format("remove {}", path));
  }
  base::Json json = base::Json::array();
  for (const HostRecord& record : records) {
    json.push_back({{"host", record.host},
                    {"run_folder", record.run_folder},
                    {"path", record.path},
                    {"works_here", record.works_here},
                    {"rest", to_string(record.rest)},
                    {"over_bytes", record.over_bytes},
                    {"names", record.names},
                    {"odd", record.odd}});
  }
  return base::write_file_atomically(path, base::dump_json(json) + "\n", 0600);
}

base::Result<std::vector<HostRecord>> read_host_records(const std::string& path) {
  std::vector<HostRecord> records;
  const auto text = base::read_file(path, kMaxBytes);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return records;
  if (!text.ok()) return text.error();
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(*text, kMaxBytes));
  if (!json.is_array()) return base::invalid_argument(base::format("{}: is no list", path));
  for (const base::Json& each : json) {
    auto record = record_from(each);
    if (!record.ok()) return record.error().context(path);
    records.push_back(*std::move(record));
  }
  return records;
}

base::Result<std::optional<base::UniqueFd>> lock_host_records(const std::string& path) {
  const std::string name = path + ".lock";
  base::UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return base::from_errno(errno, base::format("open {}", name));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(fd));
  if (errno == EWOULDBLOCK || errno == EINTR) return std::optional<base::UniqueFd>();
  return base::from_errno(errno, base::format("lock {}", name));
}

}  // namespace gangrun::cluster
