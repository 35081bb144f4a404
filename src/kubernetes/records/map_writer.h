#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/pause.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/map_chain.h"
#include "kubernetes/records/record_place.h"
#include "net/alive.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::records {

// Writes one chain of this master: parts in their order, one request at a time; what comes
// meanwhile goes together into the next. Once the head is another master's nothing is written or
// called back.
class MapWriter {
 public:
  // `head` outlives this.
  MapWriter(RecordPlace place, HeadKeeper& head, std::string chain, ChainLimits limits);
  MapWriter(const MapWriter&) = delete;
  MapWriter& operator=(const MapWriter&) = delete;

  // Calls `done` from the loop, in the order of the calls, when a next master would find the part.
  // kResourceExhausted, which is final: the chain has no room for it. What may pass is tried again
  // until give_up().
  void append(std::string bytes, std::function<void(base::Result<>)> done);
  // Takes the chain out of the head, and then its maps away; also one of an earlier master. Parts
  // that wait are given up.
  void remove(std::function<void(base::Result<>)> done);
  // All that wait get this error; whether the first of them is there is not known. Nothing more is
  // written.
  void give_up(const base::Error& why);
  // Why nothing can be written; empty while all is well.
  [[nodiscard]] std::string trouble() const { return trouble_; }
  // All pieces, with those that wait.
  [[nodiscard]] std::size_t bytes() const { return chain_bytes_; }

 private:
  using Done = std::function<void(base::Result<>)>;
  struct Waiting {
    Piece piece;
    Done done;                           // null: of its part more pieces follow
    std::optional<base::Error> error{};  // instead of a piece
  };

  void schedule();
  void work();
  void go_on();
  void take_batch();
  void create();
  void on_created(const ApiAnswer& answer);
  void replace(const base::Json& there);
  void count_map(std::string version);
  void add();
  void on_added(const ApiAnswer& answer);
  // Reads the map of the batch, and hands it on where this is still the master's.
  void look_at_map(std::function<void(const base::Json& map)> then);
  void written(std::string version);
  void try_again(const base::Error& error);
  void end_waiting(const base::Error& error);
  void begin_removal();
  void remove_map(int index, int last);
  void end_removal(const base::Result<>& removed);
  void tell_later(Done done, base::Result<> result);
  [[nodiscard]] bool fits(std::size_t pieces, std::size_t bytes, const Piece& piece) const;
  [[nodiscard]] bool holds_batch(const base::Json& map) const;
  [[nodiscard]] base::Json map_of_batch() const;
  [[nodiscard]] kubernetes::Request request_for(std::string method, int index) const;

  // The pieces that are under way, the first of those that wait, and the map that they are for.
  struct Batch {
    std::vector<std::pair<std::string, std::string>> values{};  // keys, and base64
    std::size_t bytes = 0;
    int map = 0;
    bool is_new_map = false;
  };

  const RecordPlace place_;
  HeadKeeper& head_;
  const std::string chain_;
  const ChainLimits limits_;
  pods::Errands errands_;
  std::deque<Waiting> waiting_;
  Batch batch_;
  int next_part_ = 1;
  int map_ = 0;                // the last one's index; 0: there is none yet
  std::string version_;        // of the last one
  std::size_t map_bytes_ = 0;  // of the last one's values
  std::size_t map_keys_ = 0;
  std::size_t chain_bytes_ = 0;  // with all that waits
  bool is_scheduled_ = false;
  bool is_busy_ = false;
  std::optional<base::Error> given_up_;
  int run_ = 0;  // how many times it was given up: answers of before are not wanted
  std::optional<Done> removal_;
  std::string trouble_;
  base::Pause pause_;
  net::Timer again_;
  const net::Life life_;  // for what is posted, and for the answers of `head_`
};

}  // namespace gangrun::kubernetes::records
