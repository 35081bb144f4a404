#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

// The objects that runs of tf-spawner, ours or the original's, have made in the client's namespace.
// Each function runs the loop until its answer or the deadline.
namespace gangrun::kubernetes::commands {

struct RunObject {
  std::string kind;  // "Pod"
  std::string name;
  std::string path;  // at the API server
  std::string tag;   // empty: it is of no run
  std::string job;   // of gangrun; empty: of none
  bool is_owned = false;

  friend bool operator==(const RunObject&, const RunObject&) = default;
};

// "pod/worker0"
std::string to_string(const RunObject& object);

// Services, config maps and pods with the tag, and of Jobs and Secrets those of gangrun. Pods that
// are no workers (the relay of a run's agents) have no tag, and are found by the Job that owns
// them.
base::Result<std::vector<RunObject>> objects_with_tag(net::EventLoop& loop,
                                                      kubernetes::Client& client,
                                                      const std::string& tag,
                                                      base::Instant deadline);

// kNotFound where the client's namespace is not there. Who has no right to ask is told nothing.
base::Result<> check_namespace_exists(net::EventLoop& loop, kubernetes::Client& client,
                                      base::Instant deadline);

// An object that has a name that the run is to have.
base::Result<std::optional<RunObject>> first_taken(net::EventLoop& loop, kubernetes::Client& client,
                                                   const pods::ManifestNames& names,
                                                   base::Instant deadline);

// Deletes them and waits until the pods among them are gone. What has an owner goes with it where
// there is no right to delete it. The error names what is left at the deadline.
base::Result<> delete_objects(net::EventLoop& loop, kubernetes::Client& client,
                              const std::string& tag, const std::vector<RunObject>& objects,
                              base::Instant deadline);

}  // namespace gangrun::kubernetes::commands
