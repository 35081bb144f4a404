#include "base/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/format.h"

namespace gangrun::base {

bool has_memory_files() {
  static const bool kHas = UniqueFd(::memfd_create("probe", MFD_CLOEXEC)).valid();
  return kHas;
}

Result<UniqueFd> memory_file(const std::string& name) {
  if (has_memory_files()) {
    UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd.valid()) return from_errno(errno, "memfd_create");
    return fd;
  }
  // A file system in memory, wherever there is one.
  std::string path = "/dev/shm/gangrun-XXXXXX";
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) return from_errno(errno, format("cannot create {}", path));
  if (::unlink(path.c_str()) != 0) return from_errno(errno, format("cannot remove {}", path));
  return fd;
}

}  // namespace gangrun::base
