#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace gangrun::hadoop {

class Configuration;

// A file system of the cluster: how the cluster names it, and where it is reached over HTTP.
struct FileSystem {
  // The beginning of a file's URL. The host may be a name service; then, and where the port is the
  // default one, the port is -1, as LocalResource has it.
  std::string scheme = "hdfs";
  std::string host;
  std::int32_t port = -1;
  // "http://host:9870" of each NameNode.
  std::vector<std::string> addresses;
  // Whether that is only where NameNodes are by default, as no setting tells.
  bool is_assumed = false;

  bool operator==(const FileSystem&) const = default;
};

// "hdfs://name" or "hdfs://host:8021".
std::string to_string(const FileSystem& file_system);

// "/user/ana/x" of "hdfs://name/user/ana/x".
std::string path_of(const std::string& url);

// The file system that `url` names ("hdfs://host:port", "hdfs://nameservice",
// "webhdfs://host:port", "http://host:port", all with "s" for TLS where there is such a thing), or
// fs.defaultFS where it is empty or names none ("hdfs:///x"). The HTTP addresses come from the
// configuration (dfs.namenode.http-address and its kin) or, where it names none on that host, are
// the default ones. kInvalidArgument
// where it is no HDFS, or a name service whose NameNodes are not told.
base::Result<FileSystem> find_file_system(const Configuration& configuration,
                                          const std::string& url);

}  // namespace gangrun::hadoop
