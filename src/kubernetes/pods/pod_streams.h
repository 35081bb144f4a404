#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "job/task_id.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"
#include "net/posts.h"

namespace gangrun::kubernetes::pods {

// Which lines of a log are new when it is read again from where it broke off. The server begins
// with the second of the last line: what came before in that second, and as many lines of the very
// same time as had been read, are left out.
class LineFilter {
 public:
  // Reading begins again; returns from when, or none: from the log's beginning.
  std::optional<std::string> begin();
  // Whether the line is new. A line without a time is.
  bool is_new(std::string_view time);

 private:
  std::string last_;  // as the server wrote it
  std::optional<base::WallTime> last_time_;
  int of_last_ = 0;        // lines of that time that have been read
  int to_skip_ = 0;        // of those since begin()
  bool is_again_ = false;  // nothing newer has come since begin()
};

// The logs of the tasks' containers.
class PodStreams {
 public:
  struct Callbacks {
    std::function<void(const job::TaskId& task, const std::string& uid,
                       std::optional<base::WallTime> time, std::string_view text)>
        on_line;
    // Never from inside a call.
    std::function<void(const job::TaskId& task, const std::string& uid, base::Result<> ended)>
        on_ended;
  };

  PodStreams(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
             Callbacks callbacks);

  // Reads on; of another pod (`uid`) from its beginning. Replaces what reads the task's log now.
  void read(const job::TaskId& task, const std::string& uid, bool follow);
  void drop(const job::TaskId& task);

 private:
  struct Stream {
    std::string uid;
    LineFilter filter;
    int reading = 0;  // a callback of an earlier one is late
    kubernetes::ActivityHandle activity;
  };

  void on_ended(const job::TaskId& task, int reading, base::Result<> ended);

  const net::Posts posts_;
  kubernetes::Client& client_;
  const Manifests& manifests_;
  Callbacks callbacks_;
  std::map<job::TaskId, Stream> streams_;
  int last_reading_ = 0;
};

}  // namespace gangrun::kubernetes::pods
