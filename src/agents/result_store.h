#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/far_results.h"
#include "job/task_id.h"
#include "registry/desk.h"
#include "registry/messages.h"

namespace gangrun::agents {

// What the last run of each task has left as its result: a file "TYPE-INDEX" in a folder of the
// job, there when it is whole. With `far`, the last part of a result is answered when it is there
// too, and the file here is gone then.
class ResultStore {
 public:
  using Answer = std::function<void(registry::ResultKeptMessage)>;

  // `far` may be null; it outlives the store.
  ResultStore(std::string folder, cluster::FarResults* far)
      : folder_(std::move(folder)), far_(far) {}

  // `answer` is called once: at once, or by `far`.
  void add(const registry::ResultPart& part, const Answer& answer);
  // A new run of the task has begun: what an earlier one has left is none of its results.
  void forget(const job::TaskId& task);

 private:
  // A result that is not whole yet.
  struct Growing {
    int attempt = 0;
    base::UniqueFd file;
    std::int64_t size = 0;  // so far
  };

  base::Result<> write(const registry::ResultPart& part);
  base::Result<> finish(const registry::ResultPart& part);
  [[nodiscard]] std::string path_of(const job::TaskId& task) const;

  const std::string folder_;
  cluster::FarResults* const far_;
  std::map<job::TaskId, Growing> growing_;
};

}  // namespace gangrun::agents
