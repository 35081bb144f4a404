#include "ssh/host_records.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "job/described.h"

namespace gangrun::ssh {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;

}  // namespace

base::Result<> write_host_records(const std::string& path, const std::vector<HostRecord>& records) {
  if (records.empty()) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    return base::from_errno(errno, base::format("remove {}", path));
  }
  const base::Json json = base::JsonOf<std::vector<HostRecord>>::write(records);
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
    GANGRUN_ASSIGN(HostRecord record, base::from_json<HostRecord>(each).context(path));
    records.push_back(std::move(record));
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

}  // namespace gangrun::ssh
