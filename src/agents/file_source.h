#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/fetched_files.h"
#include "job/task_id.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agents {

// Gives agents the files that they fetch before the first run of their tasks, from the disk of this
// machine: part by part, each when the agent asks. No more of them is in memory than the parts
// that are under way.
class FileSource {
 public:
  struct Callbacks {
    std::function<void(const job::TaskId&, wire::AnswerMessage)> answer;
    // The agent of a task has got more of them; not told again within `told_every`.
    std::function<void(const job::TaskId&)> on_progress;
    std::function<void(const job::TaskId&)> on_complete;
    // It will not have them all.
    std::function<void(const job::TaskId&, const std::string& why)> on_failed;
  };

  // `files` is null where there are none.
  FileSource(net::EventLoop& loop, std::shared_ptr<const cluster::FetchedFiles> files,
             base::Duration told_every, Callbacks callbacks);

  [[nodiscard]] bool has_files() const { return files_ != nullptr; }
  // Whether the agent of this task has not all of them yet.
  [[nodiscard]] bool is_awaited(const job::TaskId& task) const {
    return has_files() && !complete_.contains(task);
  }
  // A question of kFilesKind. It is answered at once, or when the part is read.
  void ask(const job::TaskId& task, const wire::AskMessage& question);
  // The task's agent has ended: the next one has none of them.
  void forget(const job::TaskId& task);
  // "sending data.bin to 3 tasks, 40 %"; empty: nothing is being sent.
  [[nodiscard]] std::string words() const;

 private:
  struct Asked {
    job::TaskId task;
    std::int64_t question = 0;
    wire::FilesWanted wanted;
  };
  struct Fetching {
    std::uint64_t bytes = 0;  // that the agent has
    std::optional<base::Instant> told_at{};
  };

  base::Result<> check(const wire::FilesWanted& wanted) const;
  void note(const job::TaskId& task, std::uint64_t bytes);
  void serve();
  void answer(const Asked& asked, const base::Result<wire::FilesPart>& part);
  void fail(const job::TaskId& task, const std::string& why);

  net::EventLoop& loop_;
  const std::shared_ptr<const cluster::FetchedFiles> files_;
  std::vector<std::uint64_t> before_;  // the bytes before each file; the last entry: of all
  const base::Duration told_every_;
  const Callbacks callbacks_;
  std::map<job::TaskId, Fetching> fetching_;
  std::set<job::TaskId> complete_;
  std::deque<Asked> waiting_;  // for a reader
  int reading_ = 0;
  net::Workers readers_;  // last: what it calls uses the others
};

// The part that follows `wanted` in the stream of all files. Reads the disk.
base::Result<wire::FilesPart> files_part(const cluster::FetchedFiles& files,
                                         const wire::FilesWanted& wanted);

}  // namespace gangrun::agents
