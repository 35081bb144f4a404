#pragma once

#include <cstddef>
#include <string>
#include <tuple>

#include "base/described.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/spec.h"

namespace gangrun::mirror {

inline constexpr std::size_t kMaxPemBytes = std::size_t{512} << 10U;
inline constexpr std::size_t kMaxPasswordBytes = 4096;

// The content of the files that a job names for ZooKeeper: they are read where the user is, and
// travel to its masters beside the job's secret, never with its spec: in files and messages that
// only the job's user can read.
struct ZooKeeperFiles {
  std::string authorities_pem{};
  std::string certificate_pem{};
  base::Secret key_pem{};
  base::Secret password{};

  [[nodiscard]] bool empty() const {
    return authorities_pem.empty() && certificate_pem.empty() && key_pem.empty() &&
           password.empty();
  }

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("ca", &ZooKeeperFiles::authorities_pem),
                      base::row("certificate", &ZooKeeperFiles::certificate_pem),
                      base::row("key", &ZooKeeperFiles::key_pem),
                      base::row("password", &ZooKeeperFiles::password));
  }
};

// Relative paths are relative to `folder`. kInvalidArgument names the field and the file: one that
// is missing, is no certificate or key, or is a secret that others may read.
base::Result<ZooKeeperFiles> read_zookeeper_files(const job::ZooKeeper& zookeeper,
                                                  const std::string& folder);

}  // namespace gangrun::mirror
