#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/pause.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/records/head.h"
#include "kubernetes/records/record_place.h"
#include "net/alive.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::records {

// Whether the server refused since the object has changed meanwhile: a real one says 422 to a test
// of a patch that fails, and 409 where the change comes while it works.
bool is_conflict(const base::Error& error);

// The one writer of the head in a process: takes the office of the job's master, and sees when
// another one has it. Its requests go one after the other; changes that wait become one.
class HeadKeeper {
 public:
  struct Callbacks {  // never from inside a call
    // Once: another master has the head, or the job has been taken away (kNotFound).
    std::function<void(const base::Error& why)> on_deposed;
    // Once, as soon as it is seen.
    std::function<void(const StopWish& wish)> on_stop{};
  };

  HeadKeeper(RecordPlace place, Callbacks callbacks);
  HeadKeeper(const HeadKeeper&) = delete;
  HeadKeeper& operator=(const HeadKeeper&) = delete;

  // Takes the office for this pod, and then seals the chains of earlier masters: from then on none
  // of them can write. `check` is asked before each try: whether this is still the pod's turn; its
  // error is handed on. Runs the loop, so not from inside a callback. kUnavailable and
  // kDeadlineExceeded may pass.
  base::Result<Head> claim(const std::string& pod_name, const std::string& pod_uid,
                           const std::function<base::Result<>()>& check, base::Instant deadline);

  // Changes the head and calls `done` from the loop when the server has it. `change` may be called
  // several times, each time on the head as it is then. Never gives up; after on_deposed `done` is
  // not called.
  void change(std::function<void(Head&)> change, std::function<void()> done = {});
  // Asks the server, from now on, and calls `done` where this is still the master; after on_deposed
  // it is not called.
  void look(std::function<void()> done);

  [[nodiscard]] const Head& head() const { return wanted_; }  // with all that was asked
  [[nodiscard]] bool is_in_office() const { return is_in_office_; }
  // Why the head cannot be read or written; empty while all is well.
  [[nodiscard]] std::string trouble() const { return trouble_; }

 private:
  struct Wish {
    std::function<void(Head&)> change;
    std::function<void()> done;
  };

  base::Result<ReadHead> take_office(const std::string& pod_name, const std::string& pod_uid,
                                     base::Instant deadline);
  base::Result<> seal_chains(base::Instant deadline);
  base::Result<> seal_map(const std::string& name, base::Instant deadline);
  void work();
  void read();
  void on_read(const ApiAnswer& answer);
  void write();
  void on_written(const ApiAnswer& answer, std::size_t wishes);
  void on_answered();
  void tell_stop();
  void fulfil(std::size_t wishes);
  void in_trouble(const base::Error& error);
  void depose(const base::Error& why);
  [[nodiscard]] base::Error gone() const;

  const RecordPlace place_;
  const Callbacks callbacks_;
  pods::Errands errands_;
  ReadHead known_;  // as the server had it last
  Head wanted_;
  bool is_in_office_ = false;
  bool was_deposed_ = false;
  bool has_told_stop_ = false;
  bool is_busy_ = false;
  bool must_read_ = false;
  std::optional<base::Error> refused_;  // the last writing, as a conflict or for good
  std::deque<Wish> wishes_;
  std::vector<std::function<void()>> lookers_;        // who wait for the next reading
  std::vector<std::function<void()>> asked_lookers_;  // for the one that is under way
  std::string trouble_;
  base::Pause pause_;
  net::Timer again_;
  net::Timer next_look_;
  const net::Life life_;  // for what is posted
};

}  // namespace gangrun::kubernetes::records
