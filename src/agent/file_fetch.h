#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/part_size.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/digests.h"
#include "net/event_loop.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agent {

// The files of the job, on their way from the master to the folder in which the task works: part by
// part, each asked for when the one before is written. A new session goes on where the last one
// was. Each file has its name when it is whole and its digest is right.
class FileFetch {
 public:
  // Called once: all is there, or why it will not be, which the master knows then.
  using Done = std::function<void(base::Result<>)>;

  // `numbers` outlives it.
  FileFetch(net::EventLoop& loop, std::string folder, wire::QuestionNumbers& numbers,
            std::function<void(const wire::AskMessage&)> ask, Done done);
  FileFetch(const FileFetch&) = delete;
  FileFetch& operator=(const FileFetch&) = delete;

  void on_attached();
  // An answer to another question changes nothing.
  void on_answer(const wire::AnswerMessage& answer);

 private:
  // The file that comes.
  struct Coming {
    std::string name;
    std::int64_t size = 0;
    std::int64_t came = 0;
    bool is_executable = false;
    std::string digest;
    base::UniqueFd file;
    net::Sha256Stream sum;
  };

  void ask();
  void limit_answer();
  base::Result<> take(const wire::FilesPart& part);
  base::Result<> begin(const wire::FilePiece& piece);
  base::Result<> add(const std::string& bytes);
  base::Result<> finish();
  void fail(const base::Error& error);
  void over(base::Result<> how);
  [[nodiscard]] std::string part_path() const;

  net::EventLoop& loop_;
  const std::string folder_;
  wire::QuestionNumbers& numbers_;
  const std::function<void(const wire::AskMessage&)> ask_;
  Done done_;  // none: it is over
  bool has_all_ = false;
  std::int64_t whole_ = 0;
  std::unique_ptr<Coming> coming_;
  std::optional<base::Error> failure_;  // of which the master is told
  std::int64_t asked_ = 0;              // the number of the question that is awaited
  base::Instant asked_at_;
  PartSize part_size_;
  net::Timer limit_;
};

}  // namespace gangrun::agent
