#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "agent/key_requests.h"
#include "base/clock.h"
#include "net/http.h"
#include "wire/agent_questions.h"
#include "wire/messages.h"

namespace gangrun::agent {

// So long the master is waited for where a request itself does not wait: it may have died, and have
// a successor soon. A request that waits has so much more than its own time.
inline constexpr std::chrono::seconds kKeyPatience{60};
inline constexpr std::chrono::seconds kKeyAllowance{5};
// An answer that comes so shortly before the end of a request's time comes at its end.
inline constexpr std::chrono::milliseconds kKeySlack{20};
inline constexpr std::size_t kMaxKeyRequests = 4096;  // of one task, at once

// One HTTP request of a process, known to the caller by this number.
using KeyTicket = std::uint64_t;

class KeyRelayOutput {
 public:
  virtual ~KeyRelayOutput() = default;
  // To the master; may be lost, and is then asked again after on_attached().
  virtual void ask(wire::AskMessage question) = 0;
  // Once for each request() that was not forgotten.
  virtual void answer(KeyTicket ticket, net::HttpResponse response) = 0;
};

// The agent's side of keys and barriers: turns requests of the task's processes into questions to
// the master, and its answers back. What is not answered is asked again in the next session; a
// change has a number, by which it is made once. No socket, no clock.
class KeyRelay {
 public:
  // Both outlive it.
  KeyRelay(KeyRelayOutput& output, wire::QuestionNumbers& numbers)
      : output_(output), numbers_(numbers) {}

  // The run whose processes ask from now on.
  void begin(KeyRun run) { run_ = std::move(run); }
  [[nodiscard]] const KeyRun& run() const { return run_; }

  void request(KeyTicket ticket, KeyRequest request, base::Instant now);
  // The process has gone: it waits nowhere any more.
  void forget(KeyTicket ticket);
  void on_answer(const wire::AnswerMessage& answer, base::Instant now);
  // A session with the master, the same or another, has begun.
  void on_attached(base::Instant now);
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time(base::Instant now);

 private:
  struct Question {
    KeyTicket ticket = 0;
    KeyRequest request;
    base::Instant until;  // its own time; then the master is not waited for much longer
    std::int64_t id = 0;  // 0: it waits for the change before it
  };
  using Questions = std::map<KeyTicket, Question>;

  void send(Question& question, base::Instant now);
  void send_next_change(base::Instant now);
  [[nodiscard]] static base::Instant limit_of(const Question& question);
  void finish(Questions::iterator question, net::HttpResponse response, base::Instant now);
  void on_said(Questions::iterator question, const base::Json& said, base::Instant now);
  void remove(Questions::iterator question);

  KeyRelayOutput& output_;
  wire::QuestionNumbers& numbers_;
  KeyRun run_;
  std::int64_t next_change_ = 1;
  Questions questions_;
  std::map<std::int64_t, KeyTicket> asked_;  // by the question's id
  std::deque<KeyTicket> changes_;            // the first one is asked
};

}  // namespace gangrun::agent
