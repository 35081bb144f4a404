#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/context.h"
#include "cluster/check.h"

namespace gangrun::yarn::commands {

struct YarnDoctorOptions {
  std::optional<std::string> queue{};       // none: "default"
  std::vector<std::string> file_systems{};  // URLs, beside the configuration's own
  std::optional<std::string> python{};      // whose TensorFlow is checked; none: the one of PATH
  bool from_node = false;                   // also from a container
  std::string base_folder{};                // on HDFS; empty: the user's own
  std::string file = "hello.txt";           // the name of what is written there
};

// The subjects of the checks, in their order.
enum class Part { kSettings, kFiles, kCluster };

// The listener while it goes on.
struct DoctorListener {
  std::function<void(Part part)> begins;
  std::function<void(const cluster::Check& check)> found;
  std::function<void(const std::string& url)> writes;
};

// Looks at the YARN cluster of HADOOP_CONF_DIR; false where Ctrl-C ended it. Either way nothing is
// left on the cluster but what every job leaves.
base::Result<bool> look_at_yarn(const YarnDoctorOptions& options, const DoctorListener& listener,
                                client::Context& context);

}  // namespace gangrun::yarn::commands
