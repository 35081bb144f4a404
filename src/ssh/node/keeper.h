#pragma once

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

// The program of gangrun on a host that ssh reaches: `gangrun-agent host`.
namespace gangrun::ssh::node {

struct KeeperOptions {
  std::string program;         // of the agents: this one
  std::string folder;          // of this user on the host, for what is kept here
  std::string host;            // as the user calls it
  std::string containment;     // as in a job file
  std::string working_folder;  // of the client
  std::string folder_mark;     // the file that marks it there now (ssh/folder_mark.h)
  std::string interface;       // of which the host's address is to be; empty: as ssh reached it
};

// "--folder PATH --host NAME …": an error names what is wrong.
base::Result<KeeperOptions> keeper_options_from(int argc, char** argv);

// The login has looked at the folder and has left us in it: an error where another one is at its
// path meanwhile.
base::Result<> check_place(const KeeperOptions& options);

// An error where the host's limits are too low for a keeper.
base::Result<> check_limits();

// Starts the agents of one job on this host and carries what they say to the client, with which it
// talks by standard input and output (ssh/frames.h), until that is done with the job or has
// gone. The status of the program.
int run_keeper(const KeeperOptions& options, const base::Clock& clock, base::Logger& logger);

}  // namespace gangrun::ssh::node
