#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/far_keys.h"
#include "cluster/far_results.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/map_writer.h"
#include "kubernetes/records/record_place.h"
#include "net/alive.h"
#include "net/event_loop.h"
#include "net/workers.h"

// The keys and results of a job's tasks, in config maps.
namespace gangrun::kubernetes::records {

// How long a part of the keys is tried: the tasks wait for it.
inline constexpr std::chrono::seconds kKeyCopyTimeout{40};
// For so long one result may be on its way; with it the agent waits.
inline constexpr std::chrono::minutes kResultCopyTimeout{5};
// All results of a job, as the tasks wrote them.
inline constexpr std::size_t kMaxResultsBytes = std::size_t{8} * 1024 * 1024;

class MapKeys final : public cluster::FarKeys {
 public:
  // `head` outlives this.
  MapKeys(RecordPlace place, HeadKeeper& head);

  void keep(int segment, int part, std::string bytes,
            std::function<void(base::Result<>)> done) override;
  void forget_before(int segment) override;

 private:
  MapWriter& writer_of(int segment);
  void wait_at_most(int segment);

  const RecordPlace place_;
  HeadKeeper& head_;
  std::map<int, std::unique_ptr<MapWriter>> writers_;
  std::set<int> forgotten_;
  int under_way_ = 0;
  net::Timer limit_;
};

class MapResults final : public cluster::FarResults {
 public:
  // `head` outlives this.
  MapResults(RecordPlace place, HeadKeeper& head);

  void keep(const std::string& name, const std::string& path,
            std::function<void(base::Result<>)> done) override;
  void remove(const std::string& name) override;

 private:
  struct Order {
    std::string name;
    std::string path;  // empty: it is to be removed
    std::function<void(base::Result<>)> done;
  };

  void work();
  [[nodiscard]] base::Result<> check_room(std::size_t bytes) const;
  void on_read(base::Result<std::string> bytes);
  // Names `entry` in the head, none of them if there is none, and takes the chain before it away.
  void replace(std::optional<KeptResultEntry> entry);
  void take_away(const std::string& chain);
  void finish(const base::Result<>& result);

  const RecordPlace place_;
  HeadKeeper& head_;
  std::deque<Order> orders_;
  bool is_busy_ = false;
  int times_ = 0;
  std::string chain_;  // of the one that is being written
  std::unique_ptr<MapWriter> writer_;
  std::map<std::string, std::unique_ptr<MapWriter>> removals_;  // by their chains
  std::vector<std::unique_ptr<MapWriter>> removed_;             // each may be what is calling back
  net::Timer limit_;
  net::Timer next_;
  const net::Life life_;  // for the answers of `head_`
  net::Workers reader_;   // last: what runs on it uses the others
};

}  // namespace gangrun::kubernetes::records
