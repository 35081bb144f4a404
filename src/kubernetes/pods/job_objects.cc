#include "kubernetes/pods/job_objects.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/refusal.h"
#include "kubernetes/rfc3339.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr std::chrono::seconds kMakingLimit{60};
constexpr std::chrono::seconds kMakingPause{1};
constexpr std::chrono::seconds kLookPause{1};
// Times are whole seconds there.
constexpr std::chrono::seconds kRounding{1};

std::optional<base::WallTime> time_at(const Json& object, KeyPath path) {
  return parse_rfc3339(text_at(object, path));
}

// When it was last written.
std::optional<base::WallTime> written_at(const Json& job) {
  std::optional<base::WallTime> latest = time_at(job, {"metadata", "creationTimestamp"});
  for (const Json& entry : list_at(job, {"metadata", "managedFields"})) {
    latest = std::max(latest, time_at(entry, {"time"}));
  }
  return latest;
}

std::optional<base::WallTime> started_at(const Json& job) {
  const auto started = time_at(job, {"status", "startTime"});
  return started ? started : time_at(job, {"metadata", "creationTimestamp"});
}

// It is there no more, or not for long.
bool is_deleted(const ApiAnswer& answer, const std::string& uid) {
  if (!answer.object.ok()) return answer.object.error().code == base::Code::kNotFound;
  return uid_of(*answer.object) != uid || is_being_deleted(*answer.object);
}

}  // namespace

void LeaseClock::wrote(const Json& job, base::Instant now) {
  const auto written = written_at(job);
  const auto started = started_at(job);
  if (!written || !started) {
    // Counted on from what was known.
    if (!at_) at_ = now;
    return;
  }
  age_ = std::max(std::chrono::seconds(0),
                  std::chrono::ceil<std::chrono::seconds>(*written - *started));
  at_ = now;
}

void LeaseClock::found(const Json& job) {
  const Json& deadline = value_at(job, {"spec", "activeDeadlineSeconds"});
  if (!deadline.is_number_integer()) return;
  age_ = std::chrono::seconds(std::clamp<std::int64_t>(deadline.get<std::int64_t>(), 0, 1LL << 40));
  at_.reset();
}

std::int64_t LeaseClock::deadline_seconds(std::chrono::seconds lease, base::Instant now) const {
  const auto since =
      at_ ? std::chrono::ceil<std::chrono::seconds>(now - *at_) : std::chrono::seconds(0);
  return (age_ + since + lease + kRounding).count();
}

bool is_lease_over(const Json& job) {
  return std::ranges::any_of(list_at(job, {"status", "conditions"}), [](const Json& condition) {
    const std::string type = text_at(condition, {"type"});
    return (type == "Failed" || type == "FailureTarget") &&
           text_at(condition, {"status"}) == "True";
  });
}

JobObjects::JobObjects(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                       const Manifests& manifests, Callbacks callbacks)
    : loop_(loop),
      logger_(logger),
      manifests_(manifests),
      callbacks_(std::move(callbacks)),
      errands_(loop, client) {}

void JobObjects::begin() {
  make(manifests_.owner(kClientLease), loop_.now() + kMakingLimit,
       [this](const base::Json& job, bool is_new) { on_owner(job, is_new); });
}

void JobObjects::use(const Owner& owner) {
  is_guest_ = true;
  owner_ = owner;
  written_at_ = loop_.now();
}

void JobObjects::make_own() { make_all(manifests_.objects(owner_, ObjectsOf::kMaster)); }

void JobObjects::end() {
  has_ended_ = true;
  renew_timer_.reset();
  look_timer_.reset();
  again_.clear();
  errands_.clear();
}

void JobObjects::gone(const std::string& sentence, job::Reason reason) {
  end();
  callbacks_.on_gone(sentence, reason);
}

void JobObjects::make(base::Json object, base::Instant limit, Then then) {
  kubernetes::Request request;
  request.method = "POST";
  request.path = collection_path(object, manifests_.input().name_space);
  request.query = {kubernetes::kStrictFields};
  request.body = object;
  errands_.ask(std::move(request), [this, object = std::move(object), limit,
                                    then = std::move(then)](ApiAnswer answer) mutable {
    on_answer(std::move(object), limit, std::move(answer), std::move(then));
  });
}

void JobObjects::on_answer(base::Json object, base::Instant limit, ApiAnswer answer, Then then) {
  if (answer.object.ok()) {
    callbacks_.on_heard();
    return then(*std::move(answer.object), true);
  }
  const base::Error& error = answer.object.error();
  // Its name is this master's alone, so an earlier try of ours has made it.
  if (error.code == base::Code::kAlreadyExists && is_guest_) return then(std::move(object), false);
  if (error.code == base::Code::kAlreadyExists) return find(std::move(object), std::move(then));
  // It may have been made all the same: then it is found.
  if (may_help_to_repeat(error) && loop_.now() < limit) {
    again_.push_back(loop_.after(
        kMakingPause, [this, object = std::move(object), limit, then = std::move(then)]() mutable {
          make(std::move(object), limit, std::move(then));
        }));
    return;
  }
  gone(base::format("{} cannot be created: {}", words_of_object(object), error.message),
       job::Reason::kApiServer);
}

// Finds an object that an earlier client of this job has made, or somebody else.
void JobObjects::find(base::Json object, Then then) {
  kubernetes::Request request;
  request.path = collection_path(object, manifests_.input().name_space);
  request.query = {{"fieldSelector", "metadata.name=" + name_of(object)}};
  const bool is_owner = owner_.uid.empty();  // which is made before the rest
  if (is_owner) {
    request.path = owner_path(manifests_.input());
    request.query.clear();
  }
  errands_.ask(std::move(request), [this, object = std::move(object), is_owner,
                                    then = std::move(then)](ApiAnswer answer) {
    const std::string words = words_of_object(object);
    if (!answer.object.ok()) {
      return gone(
          base::format("{} exists but cannot be read: {}", words, answer.object.error().message),
          job::Reason::kApiServer);
    }
    std::vector<base::Json> found;
    if (is_owner) {
      found.push_back(*std::move(answer.object));
    } else {
      found = items_of(*std::move(answer.object));
    }
    const bool is_ours = found.size() == 1 && is_of_job(found.front(), manifests_.input().job_id) &&
                         (is_owner || is_owned_by(found.front(), owner_));
    if (!is_ours) {
      return gone(base::format("{} exists but does not belong to this job", words));
    }
    then(std::move(found.front()), false);
  });
}

void JobObjects::on_owner(const base::Json& job, bool is_new) {
  owner_ = {name_of(job), uid_of(job)};
  written_at_ = loop_.now();
  if (is_lease_over(job)) {
    return gone(base::format("the lease of this job ({}) has expired", words_of_object(job)));
  }
  if (is_new) {
    clock_.wrote(job, loop_.now());
  } else {
    clock_.found(job);
  }
  renew_timer_ = loop_.after(is_new ? kLeaseRenewal : std::chrono::seconds(0), [this] { renew(); });
  if (callbacks_.on_owner) callbacks_.on_owner();
  make_all(manifests_.objects(owner_));
}

void JobObjects::make_all(std::vector<base::Json> objects) {
  missing_ = objects.size();
  if (missing_ == 0) return callbacks_.on_ready();
  for (base::Json& object : objects) {
    make(std::move(object), loop_.now() + kMakingLimit, [this](const base::Json&, bool) {
      if (--missing_ == 0) callbacks_.on_ready();
    });
  }
}

void JobObjects::renew() {
  kubernetes::Request request;
  request.method = "PATCH";
  request.path = owner_path(manifests_.input());
  request.content_type = "application/merge-patch+json";
  request.body = {
      {"spec", {{"activeDeadlineSeconds", clock_.deadline_seconds(kClientLease, loop_.now())}}}};
  renew_timer_ = loop_.after(kLeaseRenewal, [this] { renew(); });
  errands_.ask(std::move(request), [this](ApiAnswer answer) { on_renewed(std::move(answer)); });
}

void JobObjects::on_renewed(ApiAnswer answer) {
  if (!answer.object.ok()) {
    const base::Error& error = answer.object.error();
    logger_.warning("the job's lease could not be renewed: {}", error.message);
    if (may_help_to_repeat(error)) callbacks_.on_silent(error);
  }
  if (has_lost_owner(answer) || !answer.object.ok()) return;
  callbacks_.on_heard();
  clock_.wrote(*answer.object, loop_.now());
  written_at_ = loop_.now();
}

bool JobObjects::has_lost_owner(const ApiAnswer& answer) {
  if (is_deleted(answer, owner_.uid)) {
    // The cluster deletes it, too, some time after nobody has moved its deadline.
    const bool had_lease = is_guest_ || loop_.now() < written_at_ + kClientLease;
    const std::string sentence =
        had_lease ? base::format("somebody deleted Job {}, which owns all objects of this job",
                                 owner_.name)
                  : base::format(
                        "Job {}, which owns all objects of this job, is gone: it was deleted, "
                        "or this client sent no heartbeat for {}",
                        owner_.name, base::to_words(kClientLease));
    is_owner_deleted_ = true;
    end();
    callbacks_.on_deleted(sentence);
    return true;
  }
  if (!answer.object.ok() || !is_lease_over(*answer.object)) return false;
  if (is_guest_) {
    gone(base::format("the time of Job {}, which owns all objects of this job, is over",
                      owner_.name));
    return true;
  }
  gone(base::format("the job's lease has expired: this client sent no heartbeat for {}",
                    base::to_words(kClientLease)));
  return true;
}

void JobObjects::look_at_owner() {
  if (has_ended_) return;
  if (owner_.uid.empty()) {
    look_timer_ = loop_.after(kLookPause, [this] { look_at_owner(); });
    return;
  }
  kubernetes::Request request;
  request.path = owner_path(manifests_.input());
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) { on_looked_at(answer); });
}

void JobObjects::on_looked_at(const ApiAnswer& answer) {
  if (has_lost_owner(answer)) return;
  if (!answer.object.ok() && may_help_to_repeat(answer.object.error())) {
    callbacks_.on_silent(answer.object.error());
    look_timer_ = loop_.after(kLookPause, [this] { look_at_owner(); });
    return;
  }
  // A client that may not read the owner goes by the pods alone.
  callbacks_.on_heard();
  callbacks_.on_owner_there();
}

}  // namespace gangrun::kubernetes::pods
