#pragma once

#include <set>
#include <string>

#include "base/result.h"

namespace gangrun::kubernetes::commands {

// Config maps of agents' parts that were found right, by their uids: an immutable one does not
// change, so that its megabytes need not be read again for each job. A file in the folder of the
// jobs of this machine, of which the newest lines are kept. What it does not have is read once
// more.
class CheckedMaps {
 public:
  explicit CheckedMaps(const std::string& home);

  [[nodiscard]] bool has(const std::string& uid) const { return uids_.contains(uid); }
  // Whether the file could be written is no business of a job.
  void add(const std::string& name, const std::string& uid);

 private:
  std::string path_;
  std::set<std::string> uids_;
};

// The loader and the packed agent, as they lie beside the agent's program. kNotFound names the
// file.
struct AgentFiles {
  std::string loader;
  std::string packed_agent;
};
base::Result<AgentFiles> read_agent_files(const std::string& agent_program);

}  // namespace gangrun::kubernetes::commands
