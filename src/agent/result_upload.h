#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "agent/part_size.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agent {

// The result of a run, on its way to the master: part by part, each after the answer to the one
// before. A new session, with a new master perhaps, begins again. No loop, no clock.
class ResultUpload {
 public:
  // `attempt` is that of the run. `ask` is called by begin(), on_attached() and on_answer().
  // `numbers` outlives it.
  ResultUpload(base::UniqueFd file, std::int64_t size, int attempt, wire::QuestionNumbers& numbers,
               std::function<void(const wire::AskMessage&)> ask)
      : file_(std::move(file)),
        size_(size),
        attempt_(attempt),
        numbers_(numbers),
        ask_(std::move(ask)) {}

  void begin(base::Instant now);
  void on_attached(base::Instant now) { begin(now); }
  // False: it answers another question than that with the last part, and changes nothing.
  bool on_answer(const wire::AnswerMessage& answer, base::Instant now);

  // Whether nothing more is to be awaited; then trouble() says why it is not kept, or is empty.
  [[nodiscard]] bool is_over() const { return over_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  void give_up(std::string trouble);

 private:
  void take(const wire::AnswerMessage& answer, base::Instant now);
  void send_from(std::int64_t offset, base::Instant now);

  base::UniqueFd file_;
  const std::int64_t size_;
  const int attempt_;
  wire::QuestionNumbers& numbers_;
  const std::function<void(const wire::AskMessage&)> ask_;
  std::int64_t asked_ = 0;  // the number of the question that is awaited
  std::int64_t sent_ = 0;   // up to here, by that one
  base::Instant sent_at_;
  PartSize part_size_;
  bool over_ = false;
  std::string trouble_;
};

struct ResultFile {
  base::UniqueFd file;
  std::int64_t size = 0;  // 0: there is none
};

// Opens what a run has left at `path`; an error where it is no file, or too large.
base::Result<ResultFile> open_result(const std::string& path);

}  // namespace gangrun::agent
