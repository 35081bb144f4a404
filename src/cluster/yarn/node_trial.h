#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/check.h"
#include "hadoop/file_system.h"
#include "hadoop/web_hdfs.h"

// What `gangrun doctor` tries on a cluster's file systems, here and in a container.
namespace gangrun::cluster {

// A folder of the trial's own on a file system.
struct TrialPlace {
  hadoop::FileSystem file_system;
  std::string folder;
  std::string token_service{};  // on a cluster with Kerberos, for whom its tokens are; else empty

  friend bool operator==(const TrialPlace&, const TrialPlace&) = default;
};

// "hdfs://name/folder/file".
std::string url_of(const TrialPlace& place, const std::string& file);

// What a container is to try.
struct NodeTrial {
  std::vector<TrialPlace> places;
  std::string user;
  std::string python;            // whose TensorFlow is to try it too; empty: none
  bool python_is_named = false;  // by the user: no other one will do

  friend bool operator==(const NodeTrial&, const NodeTrial&) = default;
};

inline constexpr std::size_t kMaxNodeTrialBytes = std::size_t{64} << 10U;
// Of a Python that loads TensorFlow, and Java into it, on a machine that has other work.
inline constexpr std::chrono::minutes kTensorflowTimeout{2};

base::Json to_json(const NodeTrial& trial);
base::Result<NodeTrial> node_trial_from_json(const base::Json& json);

// The lines by which the container tells what it found; the last one ends them.
inline constexpr std::string_view kTrialLine = "gangrun-check ";
inline constexpr std::string_view kTrialEnd = "gangrun-check end";

// Writes a file there, reads it back and removes it. `where` is the end of the check's name.
Check try_file(const TrialPlace& place, const hadoop::WebHdfsOptions& access,
               const std::string& file, const std::string& where, const base::Clock& clock);

}  // namespace gangrun::cluster
