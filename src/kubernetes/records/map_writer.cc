#include "kubernetes/records/map_writer.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/value_at.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Code;
using base::Json;
using base::Result;

constexpr base::Duration kFirstMapPause = std::chrono::milliseconds(100);
constexpr base::Duration kLongestMapPause = std::chrono::seconds(2);

std::string version_of(const Json& map) { return text_at(map, {"metadata", "resourceVersion"}); }

base::Error too_long(const std::string& chain, std::size_t bytes) {
  return {Code::kResourceExhausted,
          base::format("the records {} have no room in config maps, where they may have {} bytes",
                       chain, bytes)};
}

}  // namespace

MapWriter::MapWriter(RecordPlace place, HeadKeeper& head, std::string chain, ChainLimits limits)
    : place_(std::move(place)),
      head_(head),
      chain_(std::move(chain)),
      limits_(limits),
      errands_(place_.loop, place_.client),
      pause_(kFirstMapPause, kLongestMapPause) {}

void MapWriter::append(std::string bytes, Done done) {
  if (given_up_) return tell_later(std::move(done), *given_up_);
  const auto refuse = [&](base::Error error) {
    waiting_.push_back({{}, std::move(done), std::move(error)});
    schedule();
  };
  auto pieces = pieces_of(place_.key, place_.job_id, chain_, next_part_, bytes, limits_);
  if (!pieces.ok()) return refuse(pieces.error());
  std::size_t more = 0;
  for (const Piece& piece : *pieces) more += piece.sealed.size();
  if (chain_bytes_ + more > limits_.chain_bytes) {
    return refuse(too_long(chain_, limits_.chain_bytes));
  }
  chain_bytes_ += more;
  ++next_part_;
  for (Piece& piece : *pieces) waiting_.push_back({std::move(piece), nullptr});
  waiting_.back().done = std::move(done);
  schedule();
}

void MapWriter::schedule() {
  if (std::exchange(is_scheduled_, true)) return;
  place_.loop.post(net::while_alive(life_, [this] {
    is_scheduled_ = false;
    work();
  }));
}

void MapWriter::work() {
  if (is_busy_ || again_.pending() || !head_.is_in_office()) return;
  if (!batch_.values.empty()) return go_on();
  if (removal_) return begin_removal();
  if (waiting_.empty()) return;
  if (waiting_.front().error) {
    const Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    schedule();
    return first.done(*first.error);
  }
  take_batch();
  if (batch_.map > kMaxChainMaps) {
    batch_ = {};
    return give_up(too_long(chain_, limits_.chain_bytes));
  }
  go_on();
}

void MapWriter::go_on() {
  is_busy_ = true;
  if (batch_.is_new_map) return create();
  add();
}

bool MapWriter::fits(std::size_t pieces, std::size_t bytes, const Piece& piece) const {
  return pieces < static_cast<std::size_t>(limits_.map_keys) &&
         bytes + piece.sealed.size() <= limits_.map_bytes;
}

// The first ones that wait, as many as one map takes; the same until they are written.
void MapWriter::take_batch() {
  batch_ = {};
  batch_.map = map_;
  batch_.is_new_map = map_ == 0 || !fits(map_keys_, map_bytes_, waiting_.front().piece);
  if (batch_.is_new_map) {
    ++batch_.map;
    map_keys_ = 0;
    map_bytes_ = 0;
  }
  for (const Waiting& each : waiting_) {
    if (each.error ||
        !fits(map_keys_ + batch_.values.size(), map_bytes_ + batch_.bytes, each.piece)) {
      return;
    }
    batch_.values.emplace_back(each.piece.key, net::to_base64(each.piece.sealed));
    batch_.bytes += each.piece.sealed.size();
  }
}

kubernetes::Request MapWriter::request_for(std::string method, int index) const {
  kubernetes::Request request;
  request.method = std::move(method);
  request.path = base::format("/api/v1/namespaces/{}/configmaps", place_.name_space);
  if (request.method != "POST") {
    request.path += "/" + map_name(place_.job_name, chain_, index);
  }
  request.patience = place_.patience;
  return request;
}

Json MapWriter::map_of_batch() const {
  Json labels = place_.labels.is_object() ? place_.labels : Json::object();
  if (pods::is_label_value(chain_)) labels[pods::kRecordsLabel] = chain_;
  Json values = Json::object();
  for (const auto& [key, value] : batch_.values) values[key] = value;
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", map_name(place_.job_name, chain_, batch_.map)},
            {"namespace", place_.name_space},
            {"labels", std::move(labels)},
            {"ownerReferences", Json::array({pods::owner_reference(place_.owner)})}}},
          {"binaryData", std::move(values)}};
}

bool MapWriter::holds_batch(const Json& map) const {
  return std::ranges::all_of(batch_.values, [&map](const auto& value) {
    return text_at(map, {"binaryData", value.first}) == value.second;
  });
}

void MapWriter::create() {
  kubernetes::Request request = request_for("POST", batch_.map);
  request.body = map_of_batch();
  request.wants_metadata_only = true;
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) { on_created(answer); });
}

void MapWriter::on_created(const ApiAnswer& answer) {
  if (answer.object.ok()) return count_map(version_of(*answer.object));
  if (answer.object.error().code != Code::kAlreadyExists) {
    return try_again(answer.object.error());
  }
  // By a try of ours whose answer was lost, or by an earlier master that did not come to count it.
  look_at_map([this](const Json& map) {
    const bool is_ours =
        holds_batch(map) && value_at(map, {"binaryData"}).size() == batch_.values.size();
    if (is_ours) return count_map(version_of(map));
    replace(map);
  });
}

void MapWriter::replace(const Json& there) {
  kubernetes::Request request = request_for("PUT", batch_.map);
  request.body = map_of_batch();
  request.body["metadata"]["resourceVersion"] = version_of(there);
  request.wants_metadata_only = true;
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) {
    if (answer.object.ok()) return count_map(version_of(*answer.object));
    try_again(answer.object.error());
  });
}

// Nobody reads a map that the head does not count.
void MapWriter::count_map(std::string version) {
  head_.change([chain = chain_, map = batch_.map](Head& head) { head.chains[chain] = map; },
               net::while_alive(life_, [this, run = run_, version = std::move(version)] {
                 if (run != run_) return;
                 map_ = batch_.map;
                 written(version);
               }));
}

void MapWriter::add() {
  Json patch =
      Json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version_}}});
  for (const auto& [key, value] : batch_.values) {
    patch.push_back({{"op", "add"}, {"path", "/binaryData/" + key}, {"value", value}});
  }
  kubernetes::Request request = request_for("PATCH", batch_.map);
  request.content_type = "application/json-patch+json";
  request.body = std::move(patch);
  request.wants_metadata_only = true;
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) { on_added(answer); });
}

void MapWriter::on_added(const ApiAnswer& answer) {
  if (answer.object.ok()) return written(version_of(*answer.object));
  const base::Error error = answer.object.error();
  if (!is_conflict(error)) return try_again(error);
  look_at_map([this, error](const Json& map) {
    if (holds_batch(map)) return written(version_of(map));
    version_ = version_of(map);
    try_again(error);
  });
}

// In this order: who looks at the map after a next master has sealed it learns of that master.
void MapWriter::look_at_map(std::function<void(const Json& map)> then) {
  errands_.ask(request_for("GET", batch_.map),
               [this, then = std::move(then)](const ApiAnswer& answer) {
                 if (!answer.object.ok()) return try_again(answer.object.error());
                 head_.look(net::while_alive(life_, [this, run = run_, then, map = *answer.object] {
                   if (run == run_) then(map);
                 }));
               });
}

void MapWriter::written(std::string version) {
  if (!head_.is_in_office()) return;
  version_ = std::move(version);
  map_bytes_ += batch_.bytes;
  map_keys_ += batch_.values.size();
  if (!trouble_.empty()) place_.logger.info("the records {} can be written again", chain_);
  trouble_.clear();
  pause_.reset();
  is_busy_ = false;
  std::vector<Done> dones;
  for (std::size_t left = std::exchange(batch_, {}).values.size(); left > 0; --left) {
    if (waiting_.front().done) dones.push_back(std::move(waiting_.front().done));
    waiting_.pop_front();
  }
  schedule();
  for (const Done& done : dones) done({});
}

void MapWriter::try_again(const base::Error& error) {
  if (trouble_.empty()) {
    place_.logger.warning("the records {} cannot be written at the API server: {}", chain_,
                          error.message);
  }
  trouble_ = error.message;
  is_busy_ = false;
  again_ = place_.loop.after(pause_.next(), [this] { work(); });
}

void MapWriter::remove(Done done) {
  given_up_.reset();
  removal_ = std::move(done);
  schedule();
}

void MapWriter::begin_removal() {
  is_busy_ = true;
  end_waiting({Code::kCancelled, base::format("the records {} are removed", chain_)});
  const auto counted = head_.head().chains.find(chain_);
  const int last = counted == head_.head().chains.end() ? 0 : counted->second;
  if (last == 0) return end_removal({});
  head_.change([chain = chain_](Head& head) { head.chains.erase(chain); },
               net::while_alive(life_, [this, run = run_, last] {
                 if (run == run_) remove_map(1, last);
               }));
}

void MapWriter::remove_map(int index, int last) {
  if (index > last) return end_removal({});
  errands_.ask(request_for("DELETE", index), [this, index, last](const ApiAnswer& answer) {
    if (!answer.object.ok() && answer.object.error().code != Code::kNotFound) {
      return end_removal(answer.object.error());
    }
    remove_map(index + 1, last);
  });
}

void MapWriter::end_removal(const Result<>& removed) {
  is_busy_ = false;
  given_up_ = base::Error{Code::kCancelled, base::format("the records {} are removed", chain_)};
  const Done done = *std::exchange(removal_, std::nullopt);
  done(removed);
}

void MapWriter::give_up(const base::Error& why) {
  given_up_ = why;
  ++run_;
  errands_.clear();
  again_.reset();
  trouble_.clear();
  batch_ = {};
  is_busy_ = false;
  end_waiting(why);
  if (removal_) tell_later(*std::exchange(removal_, std::nullopt), why);
}

void MapWriter::end_waiting(const base::Error& error) {
  for (Waiting& each : waiting_) {
    if (each.done) tell_later(std::move(each.done), each.error.value_or(error));
  }
  waiting_.clear();
}

void MapWriter::tell_later(Done done, Result<> result) {
  place_.loop.post(net::while_alive(
      life_, [done = std::move(done), result = std::move(result)] { done(result); }));
}

}  // namespace gangrun::kubernetes::records
