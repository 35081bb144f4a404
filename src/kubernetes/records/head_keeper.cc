#include "kubernetes/records/head_keeper.h"

#include <utility>

#include "base/format.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/records/map_reader.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Code;
using base::Json;
using base::Result;

constexpr base::Duration kFirstHeadPause = std::chrono::milliseconds(100);
constexpr base::Duration kLongestHeadPause = std::chrono::seconds(2);
constexpr base::Duration kClaimPause = std::chrono::milliseconds(50);
constexpr const char* kSealed = "gangrun/sealed";

kubernetes::Request request_at(const RecordPlace& place, std::string method,
                               const std::string& name) {
  kubernetes::Request request;
  request.method = std::move(method);
  request.path = base::format("/api/v1/namespaces/{}/configmaps/{}", place.name_space, name);
  return request;
}

kubernetes::Request patch_at(const RecordPlace& place, const std::string& name, Json body) {
  kubernetes::Request request = request_at(place, "PATCH", name);
  request.content_type = "application/json-patch+json";
  request.body = std::move(body);
  return request;
}

// The annotation changes the map's version, on which each append of an earlier master is tested.
Json seal_patch(const Json& map, int master) {
  const std::string number = base::format("{}", master);
  Json seal = {{"op", "add"}, {"path", "/metadata/annotations/gangrun~1sealed"}, {"value", number}};
  if (!value_at(map, {"metadata", "annotations"}).is_object()) {
    seal = {{"op", "add"}, {"path", "/metadata/annotations"}, {"value", {{kSealed, number}}}};
  }
  return Json::array({{{"op", "test"},
                       {"path", "/metadata/resourceVersion"},
                       {"value", text_at(map, {"metadata", "resourceVersion"})}},
                      seal});
}

}  // namespace

bool is_conflict(const base::Error& error) {
  return error.code == Code::kFailedPrecondition || error.code == Code::kAlreadyExists ||
         error.code == Code::kInvalidArgument;
}

HeadKeeper::HeadKeeper(RecordPlace place, Callbacks callbacks)
    : place_(std::move(place)),
      callbacks_(std::move(callbacks)),
      errands_(place_.loop, place_.client),
      pause_(kFirstHeadPause, kLongestHeadPause) {}

Result<Head> HeadKeeper::claim(const std::string& pod_name, const std::string& pod_uid,
                               const std::function<Result<>()>& check, base::Instant deadline) {
  while (true) {
    GANGRUN_TRY(check());
    auto taken = take_office(pod_name, pod_uid, deadline);
    if (taken.ok()) {
      known_ = *std::move(taken);
      break;
    }
    if (!is_conflict(taken.error())) return taken.error().context("while taking the job's head");
    if (place_.loop.now() >= deadline) {
      return base::deadline_exceeded("the job's head is changed by others all the time");
    }
    place_.loop.run_until([] { return false; }, place_.loop.now() + kClaimPause);
  }
  wanted_ = known_.head;
  GANGRUN_TRY(seal_chains(deadline).context("while ending the records of earlier masters"));
  is_in_office_ = true;
  next_look_ = place_.loop.after(place_.look_interval, [this] { look({}); });
  tell_stop();
  return known_.head;
}

// One try. A second one after a lost answer only makes the number greater.
Result<ReadHead> HeadKeeper::take_office(const std::string& pod_name, const std::string& pod_uid,
                                         base::Instant deadline) {
  GANGRUN_ASSIGN(const ReadHead read, read_head(place_.loop, place_.client, place_.name_space,
                                                place_.head_name, deadline));
  Head to = read.head;
  ++to.master;
  to.pod_uid = pod_uid;
  to.pod_name = pod_name;
  to.address.reset();
  to.refusal.clear();
  to.refusal_code.clear();
  GANGRUN_ASSIGN(
      const Json map,
      kubernetes::ask(place_.loop, place_.client,
                      patch_at(place_, place_.head_name, head_patch(read, to)), deadline));
  return head_in(map);
}

// Results are whole when the head names them, and nothing is added to them.
Result<> HeadKeeper::seal_chains(base::Instant deadline) {
  for (const auto& [chain, maps] : known_.head.chains) {
    if (maps < 1 || is_chain_of_result(chain)) continue;
    GANGRUN_TRY(seal_map(map_name(place_.job_name, chain, maps), deadline));
  }
  return {};
}

Result<> HeadKeeper::seal_map(const std::string& name, base::Instant deadline) {
  while (true) {
    kubernetes::Request get = request_at(place_, "GET", name);
    get.wants_metadata_only = true;
    const auto map = kubernetes::ask(place_.loop, place_.client, std::move(get), deadline);
    if (!map.ok() && map.error().code == Code::kNotFound) {
      return base::Error{Code::kDataLoss, base::format("the config map {} is gone", name)};
    }
    if (!map.ok()) return map.error();
    kubernetes::Request patch = patch_at(place_, name, seal_patch(*map, known_.head.master));
    patch.wants_metadata_only = true;
    const auto sealed = kubernetes::ask(place_.loop, place_.client, std::move(patch), deadline);
    if (sealed.ok()) return {};
    if (!is_conflict(sealed.error())) return sealed.error();
    if (place_.loop.now() >= deadline) {
      return base::deadline_exceeded(base::format("{} is changed by others all the time", name));
    }
  }
}

void HeadKeeper::change(std::function<void(Head&)> change, std::function<void()> done) {
  if (was_deposed_) return;
  change(wanted_);
  wishes_.push_back({std::move(change), std::move(done)});
  work();
}

void HeadKeeper::look(std::function<void()> done) {
  if (was_deposed_) return;
  lookers_.push_back(std::move(done));
  work();
}

void HeadKeeper::work() {
  if (is_busy_ || !is_in_office_ || again_.pending()) return;
  if (must_read_ || !lookers_.empty()) return read();
  if (!wishes_.empty()) write();
}

void HeadKeeper::read() {
  is_busy_ = true;
  asked_lookers_ = std::exchange(lookers_, {});
  kubernetes::Request request = request_at(place_, "GET", place_.head_name);
  request.patience = place_.patience;
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) { on_read(answer); });
}

void HeadKeeper::on_read(const ApiAnswer& answer) {
  is_busy_ = false;
  const std::vector<std::function<void()>> lookers = std::exchange(asked_lookers_, {});
  const auto failed = [&](const base::Error& error) {
    lookers_.insert(lookers_.begin(), lookers.begin(), lookers.end());
    in_trouble(error);
  };
  if (!answer.object.ok()) {
    if (answer.object.error().code == Code::kNotFound) return depose(gone());
    return failed(answer.object.error());
  }
  auto read = head_in(*answer.object);
  if (!read.ok()) return failed(read.error());
  if (read->uid != known_.uid) return depose(gone());
  if (read->head.master != known_.head.master) {
    return depose({Code::kFailedPrecondition,
                   base::format("master {} of the job, in the pod {}, has taken the place of this "
                                "one, master {}",
                                read->head.master, read->head.pod_name, known_.head.master)});
  }
  const std::optional<base::Error> refused = std::exchange(refused_, std::nullopt);
  must_read_ = false;
  const bool is_as_before = read->resource_version == known_.resource_version;
  known_ = *std::move(read);
  on_answered();
  for (const auto& done : lookers) {
    if (done) done();
  }
  // It was no conflict: the server does not take what this one wants.
  if (refused && is_as_before) return in_trouble(*refused);
  work();
}

void HeadKeeper::write() {
  is_busy_ = true;
  Head to = known_.head;
  for (const Wish& wish : wishes_) wish.change(to);
  const std::size_t wishes = wishes_.size();
  if (to == known_.head) {
    place_.loop.post(net::while_alive(life_, [this, wishes] {
      is_busy_ = false;
      fulfil(wishes);
    }));
    return;
  }
  kubernetes::Request request = patch_at(place_, place_.head_name, head_patch(known_, to));
  request.patience = place_.patience;
  errands_.ask(std::move(request),
               [this, wishes](const ApiAnswer& answer) { on_written(answer, wishes); });
}

void HeadKeeper::on_written(const ApiAnswer& answer, std::size_t wishes) {
  is_busy_ = false;
  if (!answer.object.ok()) {
    const base::Error& error = answer.object.error();
    if (!is_conflict(error) && error.code != Code::kNotFound) return in_trouble(error);
    refused_ = error;
    must_read_ = true;
    return work();
  }
  auto read = head_in(*answer.object);
  if (!read.ok()) {
    must_read_ = true;
    return in_trouble(read.error());
  }
  known_ = *std::move(read);
  on_answered();
  fulfil(wishes);
}

void HeadKeeper::on_answered() {
  if (!trouble_.empty()) place_.logger.info("the job's head can be kept again");
  trouble_.clear();
  pause_.reset();
  wanted_ = known_.head;
  for (const Wish& wish : wishes_) wish.change(wanted_);
  next_look_ = place_.loop.after(place_.look_interval, [this] { look({}); });
  tell_stop();
}

void HeadKeeper::tell_stop() {
  if (!known_.head.stop || std::exchange(has_told_stop_, true) || !callbacks_.on_stop) return;
  place_.loop.post(
      net::while_alive(life_, [this, wish = *known_.head.stop] { callbacks_.on_stop(wish); }));
}

void HeadKeeper::fulfil(std::size_t wishes) {
  std::vector<std::function<void()>> dones;
  for (; wishes > 0; --wishes) {
    dones.push_back(std::move(wishes_.front().done));
    wishes_.pop_front();
  }
  for (const auto& done : dones) {
    if (done) done();
  }
  work();
}

void HeadKeeper::in_trouble(const base::Error& error) {
  if (trouble_.empty()) {
    place_.logger.warning("the job's head cannot be kept at the API server: {}", error.message);
  }
  trouble_ = error.message;
  again_ = place_.loop.after(pause_.next(), [this] { work(); });
}

base::Error HeadKeeper::gone() const {
  return base::not_found(
      base::format("the job has been taken away: its config map {} is gone", place_.head_name));
}

void HeadKeeper::depose(const base::Error& why) {
  if (std::exchange(was_deposed_, true)) return;
  is_in_office_ = false;
  wishes_.clear();
  lookers_.clear();
  again_.reset();
  next_look_.reset();
  place_.loop.post(net::while_alive(life_, [this, why] { callbacks_.on_deposed(why); }));
}

}  // namespace gangrun::kubernetes::records
