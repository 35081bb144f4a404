#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace gangrun::cluster {

// Keeps the results of tasks where they outlive the master and its host. Called on the loop's
// thread.
class FarResults {
 public:
  virtual ~FarResults() = default;
  // Brings the file at `path` there as `name` ("worker-0"), in place of what is there, and calls
  // `done` from the loop. The file must stay until then. In the order of the calls.
  virtual void keep(const std::string& name, const std::string& path,
                    std::function<void(base::Result<>)> done) = 0;
  // Removes a result of an earlier run, if there is one.
  virtual void remove(const std::string& name) = 0;
};

}  // namespace gangrun::cluster
