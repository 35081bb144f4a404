#include "kubernetes/records/far_maps.h"

#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Code;
using base::Result;

// So many masters have results of different names.
constexpr int kMastersOfNames = 2000;
constexpr int kResultsOfAMaster = 1'000'000;

base::Error too_slow(const char* what, base::Duration limit, const std::string& trouble) {
  std::string words =
      base::format("{} could not be kept in the cluster within {}", what, base::to_words(limit));
  if (!trouble.empty()) words += ": " + trouble;
  return base::unavailable(std::move(words));
}

}  // namespace

MapKeys::MapKeys(RecordPlace place, HeadKeeper& head) : place_(std::move(place)), head_(head) {}

MapWriter& MapKeys::writer_of(int segment) {
  auto& writer = writers_[segment];
  if (writer == nullptr) {
    writer = std::make_unique<MapWriter>(place_, head_, chain_of_keys(segment), keys_limits());
  }
  return *writer;
}

void MapKeys::keep(int segment, int /*part*/, std::string bytes,
                   std::function<void(Result<>)> done) {
  ++under_way_;
  if (!limit_.pending()) wait_at_most(segment);
  writer_of(segment).append(std::move(bytes),
                            [this, segment, done = std::move(done)](const Result<>& kept) {
                              limit_.reset();
                              if (--under_way_ > 0) wait_at_most(segment);
                              done(kept);
                            });
}

// A master that is not in office is not waited for: it is about to end.
void MapKeys::wait_at_most(int segment) {
  limit_ = place_.loop.after(kKeyCopyTimeout, [this, segment] {
    if (!head_.is_in_office()) return;
    MapWriter& writer = writer_of(segment);
    const std::string trouble = head_.trouble().empty() ? writer.trouble() : head_.trouble();
    writer.give_up(too_slow("the keys of the job", kKeyCopyTimeout, trouble));
  });
}

void MapKeys::forget_before(int segment) {
  for (const auto& [chain, maps] : head_.head().chains) {
    const int old = segment_of_keys(chain);
    if (old == 0 || old >= segment || !forgotten_.insert(old).second) continue;
    writer_of(old).remove([this, old](const Result<>& removed) {
      if (removed.ok()) return;
      place_.logger.warning("old keys in the cluster, of segment {}: {}", old,
                            removed.error().message);
    });
  }
}

MapResults::MapResults(RecordPlace place, HeadKeeper& head)
    : place_(std::move(place)), head_(head), reader_(place_.loop, 1) {}

void MapResults::keep(const std::string& name, const std::string& path,
                      std::function<void(Result<>)> done) {
  orders_.push_back({name, path, std::move(done)});
  work();
}

void MapResults::remove(const std::string& name) {
  orders_.push_back({name, "", [](const Result<>&) {}});
  work();
}

void MapResults::work() {
  if (is_busy_ || orders_.empty()) return;
  is_busy_ = true;
  if (orders_.front().path.empty()) return replace(std::nullopt);
  const auto submitted =
      reader_.run([path = orders_.front().path] { return base::read_file(path, kMaxResultsBytes); },
                  [this](Result<std::string> bytes) { on_read(std::move(bytes)); });
  if (!submitted.ok()) finish(submitted.error());
}

Result<> MapResults::check_room(std::size_t bytes) const {
  std::size_t all = bytes;
  for (const auto& [name, entry] : head_.head().results) {
    if (name != orders_.front().name) all += static_cast<std::size_t>(entry.bytes);
  }
  if (all <= kMaxResultsBytes) return {};
  return base::Error{Code::kResourceExhausted,
                     base::format("the results of a job may have {} together in config maps",
                                  base::size_text(kMaxResultsBytes))};
}

void MapResults::on_read(Result<std::string> bytes) {
  if (!bytes.ok()) return finish(bytes.error());
  const Result<> room = check_room(bytes->size());
  if (!room.ok()) return finish(room);
  const int times = head_.head().master % kMastersOfNames * kResultsOfAMaster + ++times_;
  chain_ = chain_of_result(orders_.front().name, times);
  writer_ = std::make_unique<MapWriter>(place_, head_, chain_, result_limits());
  limit_ = place_.loop.after(kResultCopyTimeout, [this] {
    if (!head_.is_in_office()) return;
    writer_->give_up(too_slow("the result", kResultCopyTimeout, writer_->trouble()));
  });
  const auto size = static_cast<std::int64_t>(bytes->size());
  writer_->append(*std::move(bytes), [this, size](const Result<>& written) {
    limit_.reset();
    if (!written.ok()) return finish(written);
    replace(KeptResultEntry{chain_, size});
  });
}

void MapResults::replace(std::optional<KeptResultEntry> entry) {
  const std::string& name = orders_.front().name;
  const auto found = head_.head().results.find(name);
  const std::string before = found == head_.head().results.end() ? "" : found->second.chain;
  if (!entry && before.empty()) return finish({});
  head_.change(
      [name, entry = std::move(entry)](Head& head) {
        head.results.erase(name);
        if (entry) head.results[name] = *entry;
      },
      net::while_alive(life_, [this, before] {
        if (!before.empty()) take_away(before);
        finish({});
      }));
}

// Nobody waits for that.
void MapResults::take_away(const std::string& chain) {
  removed_.clear();
  auto& writer = removals_[chain];
  writer = std::make_unique<MapWriter>(place_, head_, chain, result_limits());
  writer->remove([this, chain](const Result<>& removed) {
    if (!removed.ok()) {
      place_.logger.warning("an old result in the cluster, {}: {}", chain, removed.error().message);
    }
    const auto node = removals_.extract(chain);
    removed_.push_back(std::move(node.mapped()));
  });
}

void MapResults::finish(const Result<>& result) {
  Order order = std::move(orders_.front());
  orders_.pop_front();
  is_busy_ = false;
  next_ = place_.loop.after(base::Duration(0), [this] { work(); });
  order.done(result);
}

}  // namespace gangrun::kubernetes::records
