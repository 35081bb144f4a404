#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

// The removal of what is left of a job on its host if its keeper is killed, and no other one comes.
namespace gangrun::ssh::node {

// The keeper's ends: the caretakers see that they close.
struct Caretakers {
  base::UniqueFd life;  // as long as the keeper lives
  base::UniqueFd link;  // as long as it has a client
};

// Starts two caretakers for the job's folder, which may be made only now, each a process in a
// session of its own: one looks
// after the folder once the keeper is gone, and the other one if that is killed. The first has
// `link`, too, where the keeper talks to its client.
base::Result<Caretakers> start_caretakers(const std::string& program, const std::string& run_folder,
                                          int link);

// The descriptors that a caretaker has of its keeper.
struct KeeperSigns {
  int life = -1;  // ends with the keeper
  int has_client =
      -1;         // ends when it has no client any more; -1: that is another caretaker's to see
  int link = -1;  // to the client
};

// A caretaker, to its end: waits until the keeper is gone. Where it had a client till then, it was
// killed, and the client is told: the link stays whole as long as another process of the login
// holds it. Then waits until another keeper has the folder or it is gone; or until no agent of the
// job has lived for `patience`, and ends what is left of the folder as a keeper does. Closes
// `link`.
void take_care(const KeeperSigns& keeper, const std::string& run_folder, const base::Clock& clock,
               std::chrono::milliseconds patience);

// `gangrun-agent caretaker RUN_FOLDER`: its exit status.
int run_caretaker(const std::string& run_folder, const base::Clock& clock);

}  // namespace gangrun::ssh::node
