#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/disk_room.h"
#include "job/task_id.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"
#include "net/posts.h"
#include "net/workers.h"

namespace gangrun::kubernetes::pods {

// Unpacks a tar file into a folder that is there and empty; nothing outside it is touched. Says in
// words which part of it was left out; empty: nothing. Blocks: called on a worker thread.
using Unpack =
    std::function<base::Result<std::string>(const std::string& archive, const std::string& folder)>;

// The command that writes a tar file of those of `paths` that are there to its output, and the
// others, each in a line after kMissingMark, to its errors. Needs sh and tar.
inline constexpr std::string_view kMissingMark = "gangrun-missing:";
std::vector<std::string> outputs_command(const std::string& folder,
                                         const std::vector<std::string>& paths);
// The errors of that command: the paths that are not there, and the rest.
struct OutputsErrors {
  std::vector<std::string> missing;
  std::string others;
};
OutputsErrors outputs_errors(std::string_view text);
// Checks that what has come fits the request, as far as that can be known without a look into it:
// by the command's exit status, its errors, whether nothing has come, and the number of requested
// paths.
base::Result<> check_outputs(int status, const OutputsErrors& errors, bool is_empty,
                             std::size_t asked);

// A file of ours for what the program `tar` of a task's image sends, while it comes. That program
// is the image's, which may send anything, without end.
class OutputsArchive {
 public:
  struct Limits {
    std::optional<std::uint64_t> bytes;                     // outputs_limit
    std::function<base::Result<cluster::DiskRoom>()> room;  // where it is kept
  };

  OutputsArchive(std::string path, Limits limits);
  ~OutputsArchive();
  OutputsArchive(const OutputsArchive&) = delete;
  OutputsArchive& operator=(const OutputsArchive&) = delete;

  // Makes the file. An error, here and below, is the end of it: why it cannot be had.
  base::Result<> begin();
  base::Result<> put(std::string_view piece);
  // It is whole, and there is room for what is in it.
  base::Result<> end();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_empty() const { return bytes_ == 0; }

 private:
  // Checks that the disk has room for so many bytes more.
  [[nodiscard]] base::Result<> has_room(std::uint64_t bytes) const;

  const std::string path_;
  const Limits limits_;
  base::UniqueFd file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t looked_at_ = 0;
};

// Brings the tasks' outputs from their pods into folders TYPE-INDEX here.
class PodOutputs {
 public:
  struct Callbacks {
    std::function<void(const job::TaskId& task, const std::string& uid, base::Result<> fetched)>
        on_fetched;
    std::function<void(std::string sentence)> on_warning;
  };

  PodOutputs(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
             std::string folder, Unpack unpack, Callbacks callbacks);

  // Replaces what is there from an earlier run of the task.
  void fetch(const job::TaskId& task, const std::string& uid);

 private:
  struct Fetch {
    std::string uid;
    std::unique_ptr<OutputsArchive> archive;
    std::string errors;
    std::size_t error_bytes = 0;
    base::Result<> written;
    kubernetes::ActivityHandle activity;
  };

  void on_output(const job::TaskId& task, Fetch& fetch, std::string_view piece);
  void on_errors(const job::TaskId& task, Fetch& fetch, std::string_view piece);
  // Ends it, if it has not failed before.
  void fail(const job::TaskId& task, Fetch& fetch, base::Result<> why);
  void end_later(const job::TaskId& task, const std::string& uid, base::Result<int> status);
  void on_ended(const job::TaskId& task, const base::Result<int>& status);
  void on_unpacked(const job::TaskId& task, const base::Result<std::string>& unpacked);
  void done(const job::TaskId& task, base::Result<> fetched);

  net::EventLoop& loop_;
  const net::Posts posts_;
  kubernetes::Client& client_;
  const Manifests& manifests_;
  std::string folder_;
  Unpack unpack_;
  Callbacks callbacks_;
  std::map<job::TaskId, std::unique_ptr<Fetch>> fetches_;
  net::Workers workers_;
};

}  // namespace gangrun::kubernetes::pods
