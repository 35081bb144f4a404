#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "cluster/check.h"
#include "hadoop/file_system.h"
#include "hadoop/web_hdfs.h"

namespace gangrun::base {

template <>
struct RowsOf<hadoop::FileSystem> {
  GANGRUN_ROWS(hadoop::FileSystem, scheme, host, port, addresses);
};

}  // namespace gangrun::base

// The trial of `gangrun doctor` on a cluster's file systems, here and in a container.
namespace gangrun::yarn {

// A folder of the trial's own on a file system.
struct TrialPlace {
  hadoop::FileSystem file_system;
  std::string folder;
  std::string token_service{};  // of its tokens, on a cluster with Kerberos; else empty

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::flat_row(&TrialPlace::file_system),
                      base::row("folder", &TrialPlace::folder),
                      base::row("token_service", &TrialPlace::token_service));
  }

  friend bool operator==(const TrialPlace&, const TrialPlace&) = default;
};

// "hdfs://name/folder/file".
std::string url_of(const TrialPlace& place, const std::string& file);

// Those of a file of this name in each place, where TensorFlow may write it.
std::vector<std::string> tensorflow_urls(const std::vector<TrialPlace>& places,
                                         const std::string& file);

// The tasks of a container's trial.
struct NodeTrial {
  std::vector<TrialPlace> places;
  std::string user;
  std::string python;            // whose TensorFlow is to try it too; empty: none
  bool python_is_named = false;  // by the user: no other one will do

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(NodeTrial, places, user, python, python_is_named);

  friend bool operator==(const NodeTrial&, const NodeTrial&) = default;
};

inline constexpr std::size_t kMaxNodeTrialBytes = std::size_t{64} << 10U;
// The limit of a Python that loads TensorFlow, and Java into it, on a machine that has other work.
inline constexpr std::chrono::minutes kTensorflowTimeout{2};

// The lines by which the container tells what it found; the last one ends them.
inline constexpr std::string_view kTrialLine = "gangrun-check ";
inline constexpr std::string_view kTrialEnd = "gangrun-check end";

// Writes a file there, reads it back and removes it. `where` is the end of the check's name.
cluster::Check try_file(const TrialPlace& place, const hadoop::WebHdfsOptions& access,
                        const std::string& file, const std::string& where,
                        const base::Clock& clock);

}  // namespace gangrun::yarn
