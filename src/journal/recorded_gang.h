#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "gang/decision.h"
#include "gang/event.h"
#include "gang/gang.h"
#include "job/status.h"
#include "journal/record.h"
#include "journal/writer.h"

namespace gangrun::journal {

// So often, and for so long, room is looked for on a disk that has none.
inline constexpr std::chrono::seconds kRoomRetry{1};
inline constexpr std::chrono::minutes kRoomTimeout{10};

// A gang whose events are in the journal before they are handled, so that whatever it gives out (a
// place, a generation, a start) is known to the next master, whenever this one dies.
//
// Where an event finds no room, it and what comes after it wait: tasks run on, nothing is decided.
// Who asks for the end of the job does not have to wait, and nobody waits for longer than
// kRoomTimeout: from then on the gang goes on without a record, and only towards the end. What
// would have given out something new fails the job. A next master that knows nothing of this finds
// agents that have ended, never one that it does not know.
class RecordedGang {
 public:
  // Without another master that may go on from the journal, nothing waits for it.
  RecordedGang(gang::Gang gang, Writer& writer, bool can_be_followed);

  struct Handled {
    gang::Event event;
    std::vector<gang::Decision> decisions;
  };
  // `place` is recorded before the event that counts on it.
  void add(gang::Event event, std::optional<PlaceRecord> place = {});
  // Records and handles the next event. None: there is none, or it waits for room.
  std::optional<Handled> next(base::Instant now);
  // False: it waits for room and wants to be tried again when the time has come. No event follows.
  bool verdict(const job::JobStatus& status, base::Instant now);

  // When next() or verdict() should be called again with TimePassed added, if ever.
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  // Whether an event waits for room. Nothing that was heard meanwhile is recorded.
  [[nodiscard]] bool is_behind() const { return waiting_.has_value(); }
  // Whether something was handled that no next master will know of.
  [[nodiscard]] bool is_incomplete() const { return incomplete_; }
  // Why the last line found no room; empty: it did.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] std::string waiting_for(base::Instant now) const;
  [[nodiscard]] const gang::Gang& gang() const { return gang_; }

 private:
  struct Item {
    gang::Event event;
    std::optional<PlaceRecord> place;
  };
  struct Waiting {
    base::Instant until;
    base::Instant retry_at;
  };

  base::Result<> record(Item& item, base::Instant now);
  [[nodiscard]] bool may_try(base::Instant now) const;
  bool waits_on(const base::Result<>& written, base::Instant now);
  std::vector<gang::Decision> handle_unrecorded(const gang::Event& event, base::Instant now);

  gang::Gang gang_;
  Writer& writer_;
  bool can_be_followed_;
  std::deque<Item> events_;
  std::optional<Waiting> waiting_;
  bool end_requested_ = false;  // by somebody who does not wait
  bool incomplete_ = false;
  std::string trouble_;
};

}  // namespace gangrun::journal
