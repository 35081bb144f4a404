#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace gangrun::cluster {

// Keeps what a next master on another host must know of the job's keys and barriers: segments, each
// of numbered parts. Called on the loop's thread.
class FarKeys {
 public:
  virtual ~FarKeys() = default;
  // Keeps this part, the next one of its segment, and calls `done` from the loop; in the order of
  // the calls. An error has been waited for, and is final.
  virtual void keep(int segment, int part, std::string bytes,
                    std::function<void(base::Result<>)> done) = 0;
  // All segments before this one are not needed any more.
  virtual void forget_before(int segment) = 0;
};

}  // namespace gangrun::cluster
