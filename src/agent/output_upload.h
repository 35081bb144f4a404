#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/part_size.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/output_files.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agent {

// So often a session may break while outputs are sent: each time all begins again.
inline constexpr int kMaxOutputBeginnings = 10;

// The outputs of a run, on their way to the master as a stream of files: part by part, each after
// the answer to the one before, so that no more than a part of them is in memory anywhere. A new
// session begins again.
class OutputUpload {
 public:
  struct Order {
    std::string folder;  // in which the task works
    std::vector<std::string> names;
    std::optional<std::uint64_t> limit;  // in bytes
  };
  // `lost`: what was not kept, and why; empty: all was. `missing`: what the run has not written.
  using Done = std::function<void(std::string lost, std::string missing)>;

  // `numbers` outlives it.
  OutputUpload(net::EventLoop& loop, Order order, wire::QuestionNumbers& numbers,
               std::function<void(const wire::AskMessage&)> ask);
  OutputUpload(const OutputUpload&) = delete;
  OutputUpload& operator=(const OutputUpload&) = delete;

  // Those of this run, which has ended. `done` is called once, from the loop or an answer; another
  // keep() takes the place of one that is not done.
  void keep(int attempt, Done done);
  // The time for it is over: the master keeps what is whole by now, and hears no more.
  void cut_short();
  void on_attached();
  // An answer to another question changes nothing.
  void on_answer(const wire::AnswerMessage& answer);

 private:
  void on_found(base::Result<cluster::OutputFiles> found);
  void begin();
  void send();
  [[nodiscard]] bool has_more() const;
  wire::OutputPiece next_piece(std::int64_t room);
  wire::OutputPiece begin_next();
  void fail(std::string why);
  void over(std::string lost);

  net::EventLoop& loop_;
  const Order order_;
  wire::QuestionNumbers& numbers_;
  const std::function<void(const wire::AskMessage&)> ask_;
  Done done_;  // none: nothing is kept now
  int turn_ = 0;
  int attempt_ = 0;
  bool is_cut_short_ = false;
  bool has_files_ = false;
  int beginnings_ = 0;
  cluster::OutputsEnd end_;
  std::size_t next_ = 0;  // of the chosen ones
  base::UniqueFd file_;   // that is being sent: the one before
  std::int64_t offset_ = 0;
  std::int64_t left_ = 0;
  std::int64_t number_ = 0;  // of the next part
  std::int64_t asked_ = 0;   // the number of the question that is awaited
  bool is_last_ = false;     // that one is with the last part
  base::Instant sent_at_;
  PartSize part_size_;
  net::Timer limit_;
  net::Workers worker_;  // last: what it calls uses the others
};

}  // namespace gangrun::agent
