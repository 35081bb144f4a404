#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/records.h"
#include "hadoop/tfile.h"
#include "hadoop/web_hdfs.h"

// The containers' logs after an application's end, where YARN's log aggregation has put them: one
// file in HDFS for each node.
namespace gangrun::hadoop {

class Configuration;

struct AggregatedLog {
  std::string node;       // "host:port"
  std::string container;  // "container_…"
  std::string file;       // as the container called it: no name to trust
  std::uint64_t length = 0;

  bool operator==(const AggregatedLog&) const = default;
};

// Takes the logs of a node in their order. An error ends the reading and is passed on.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // Whether the content is wanted. Without, neither content() nor end() is called for it.
  virtual base::Result<bool> begin(const AggregatedLog& log) = 0;
  virtual base::Result<> content(std::string_view piece) = 0;
  virtual base::Result<> end() = 0;
};

// All logs of one node's file.
base::Result<> read_node_logs(RangeReader& file, const std::string& node, LogSink& sink);

// "host:port" of the node that wrote the file of this name ("host_port", "host_port_time").
std::string node_of_file(std::string_view name);

// The folders in which an application's logs may lie, the likeliest first: the layout has changed
// over the versions. kInvalidArgument where the configuration puts them into something that is no
// HDFS.
base::Result<std::vector<std::string>> log_folders(const Configuration& configuration,
                                                   const std::string& user,
                                                   const ApplicationId& application);

struct NodeLogs {
  std::string node;
  std::string path;
  std::uint64_t length = 0;
};

// The files of all nodes that have written theirs, of the first of `folders` that is there.
// kNotFound where there is none: aggregation is off, has not begun, or the logs have been removed.
base::Result<std::vector<NodeLogs>> find_node_logs(WebHdfs& hdfs,
                                                   const std::vector<std::string>& folders,
                                                   base::Instant deadline);

// kFailedPrecondition where the file is in another format than TFile.
base::Result<> read_node_logs(WebHdfs& hdfs, const NodeLogs& logs, LogSink& sink,
                              base::Instant deadline);

}  // namespace gangrun::hadoop
