#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/pause.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/map_chain.h"
#include "kubernetes/records/record_place.h"
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
  [[nodiscard]] std::string trouble() const { return trouble_; }

 private:
  using Done = std::function<void(base::Result<>)>;
  struct Waiting {
    Piece piece;
    Done done;  // of the last piece of its part
  };

  void work();
  void write_map();
  void begin_map();
  void on_created(const ApiAnswer& answer);
  void replace(const base::Json& there);
  void count_map();
  void add_pieces();
  void on_added(const ApiAnswer& answer);
  // Reads the map, and hands it on where this is still the master's.
  void look_at_map(int index, std::function<void(const base::Json& map)> then);
  void written(const base::Json& map);
  void finish(std::size_t pieces);
  void try_again(const base::Error& error);
  void begin_removal();
  void remove_map(int index, int last);
  void on_failed(Done done, base::Error error);
  [[nodiscard]] bool holds_batch(const base::Json& map) const;
  [[nodiscard]] base::Json map_of_batch(int index) const;
  [[nodiscard]] kubernetes::Request request_for(std::string method, int index) const;
  [[nodiscard]] std::size_t pieces_that_fit() const;

  const RecordPlace place_;
  HeadKeeper& head_;
  const std::string chain_;
  const ChainLimits limits_;
  pods::Errands errands_;
  std::deque<Waiting> waiting_;
  std::vector<std::pair<std::string, std::string>> batch_;  // under way: keys and their base64
  int next_part_ = 1;
  int map_ = 0;                // the last one's index
  std::string version_;        // of the last one
  std::size_t map_bytes_ = 0;  // of the last one's values
  int map_keys_ = 0;
  std::size_t chain_bytes_ = 0;  // with all that waits
  bool is_busy_ = false;
  std::optional<base::Error> given_up_;
  std::optional<Done> removal_;
  std::string trouble_;
  base::Pause pause_;
  net::Timer again_;
};

}  // namespace gangrun::kubernetes::records
