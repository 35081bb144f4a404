#include "kubernetes/commands/job_making.h"

#include <utility>

#include "base/format.h"
#include "kubernetes/pods/master_pod.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/refusal.h"

namespace gangrun::kubernetes::commands {

using base::Json;
using base::Result;

JobMaking::JobMaking(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                     Plan plan, Callbacks callbacks)
    : loop_(loop),
      logger_(logger),
      client_(client),
      plan_(std::move(plan)),
      callbacks_(std::move(callbacks)),
      errands_(loop, client) {}

void JobMaking::begin() {
  make(plan_.owner, [this](const Json& job) { on_owner(job); });
}

// The client asks again where the answer did not come, so what is there may be our own first try.
void JobMaking::make(Json object, std::function<void(const Json&)> then) {
  kubernetes::Request request{
      .method = "POST",
      .path = pods::collection_path(object, plan_.manifests.input().name_space),
      .query = {kubernetes::kStrictFields},
      .body = object};
  errands_.ask(std::move(request), [this, object = std::move(object),
                                    then = std::move(then)](const ApiAnswer& answer) mutable {
    if (has_ended_) return;
    if (answer.object.ok()) return then(*answer.object);
    const base::Error& error = answer.object.error();
    if (error.code == base::Code::kAlreadyExists) return find(std::move(object), std::move(then));
    gone(base::format("{} cannot be created: {}", pods::words_of_object(object), error.message));
  });
}

void JobMaking::find(Json object, std::function<void(const Json&)> then) {
  const pods::ManifestInput& input = plan_.manifests.input();
  kubernetes::Request request{.path = base::format("{}/{}",
                                                   pods::collection_path(object, input.name_space),
                                                   pods::name_of(object))};
  errands_.ask(std::move(request), [this, object = std::move(object),
                                    then = std::move(then)](const ApiAnswer& answer) {
    if (has_ended_) return;
    const std::string words = pods::words_of_object(object);
    if (!answer.object.ok()) {
      // The right to make a Secret is not the right to read it. Nobody else makes one of this
      // name: his owner would have been in the way.
      const bool may_not_look = answer.object.error().code == base::Code::kPermissionDenied;
      if (may_not_look && !owner_.uid.empty()) return then(object);
      return gone(
          base::format("{} exists but cannot be read: {}", words, answer.object.error().message));
    }
    const bool is_ours = pods::is_of_job(*answer.object, plan_.manifests.input().job_id) &&
                         (owner_.uid.empty() || pods::is_owned_by(*answer.object, owner_));
    if (!is_ours) {
      return gone(base::format("{} exists but does not belong to this job", words));
    }
    then(*answer.object);
  });
}

void JobMaking::on_owner(const Json& job) {
  owner_ = {pods::name_of(job), pods::uid_of(job)};
  clock_.wrote(job, loop_.now());
  renew_timer_ = loop_.after(plan_.renewal, [this] { renew(); });
  callbacks_.on_owner(owner_);
  auto records = plan_.records(owner_);
  if (!records.ok()) return gone(records.error().message);
  std::vector<Json> objects = *std::move(records);
  for (Json& object : plan_.manifests.objects(owner_, pods::ObjectsOf::kClient)) {
    objects.push_back(std::move(object));
  }
  const auto& parts = plan_.manifests.input().agents->source.maps;
  missing_ = objects.size() + (parts ? 1 : 0);
  for (Json& object : objects) {
    make(std::move(object), [this](const Json&) { made_one(); });
  }
  if (!parts) return;
  part_maps_ = std::make_unique<pods::AgentPartMaps>(
      loop_, logger_, client_, *parts, plan_.manifests.input().name_space,
      pods::AgentPartMaps::Callbacks{
          .on_ready = [this] { made_one(); },
          .on_gone = [this](const std::string& sentence, job::Reason) { gone(sentence); },
          .is_checked = [this](const std::string& uid) { return plan_.checked_maps.has(uid); },
          .on_checked = [this](const std::string& name,
                               const std::string& uid) { plan_.checked_maps.add(name, uid); }});
  part_maps_->begin(owner_);
}

void JobMaking::made_one() {
  --missing_;
  switch_on_if_due();
}

// A renewal that came after it would shorten the job's life.
void JobMaking::switch_on_if_due() {
  if (missing_ == 0 && !is_renewing_) switch_on();
}

kubernetes::Request JobMaking::patch_of_owner(Json body) const {
  return {.method = "PATCH",
          .path = pods::owner_path(plan_.manifests.input()),
          .body = std::move(body),
          .content_type = "application/merge-patch+json"};
}

// From here on the cluster has the job.
void JobMaking::switch_on() {
  renew_timer_.reset();
  Json body = pods::switch_on(clock_.deadline_seconds(plan_.life, loop_.now()));
  errands_.ask(patch_of_owner(std::move(body)),
               [this](const ApiAnswer& answer) { on_switched_on(answer); });
}

void JobMaking::on_switched_on(const ApiAnswer& answer) {
  if (!answer.object.ok()) {
    return gone(
        base::format("the job's master cannot be started: {}", answer.object.error().message));
  }
  if (pods::uid_of(*answer.object) != owner_.uid || pods::is_lease_over(*answer.object)) {
    return gone(
        base::format("Job {} has not lived until its master could be started", owner_.name));
  }
  end();
  callbacks_.on_made();
}

void JobMaking::renew() {
  renew_timer_ = loop_.after(plan_.renewal, [this] { renew(); });
  if (std::exchange(is_renewing_, true)) return;
  Json body = {
      {"spec", {{"activeDeadlineSeconds", clock_.deadline_seconds(plan_.lease, loop_.now())}}}};
  errands_.ask(patch_of_owner(std::move(body)),
               [this](const ApiAnswer& answer) { on_renewed(answer); });
}

void JobMaking::on_renewed(const ApiAnswer& answer) {
  if (has_ended_) return;
  is_renewing_ = false;
  if (answer.object.ok()) {
    clock_.wrote(*answer.object, loop_.now());
    return switch_on_if_due();
  }
  const base::Error& error = answer.object.error();
  logger_.warning("the job's lease could not be renewed: {}", error.message);
  if (may_help_to_repeat(error)) {
    switch_on_if_due();
  } else {
    gone(base::format("Job {}, which owns all objects of this job, cannot be kept: {}", owner_.name,
                      error.message));
  }
}

std::string JobMaking::waiting_for() const {
  const std::string parts = part_maps_ ? part_maps_->waiting_for() : std::string();
  return parts.empty() ? "the job's objects" : base::format("the job's objects, {}", parts);
}

// Not the errands: one of them may be what calls.
void JobMaking::end() {
  has_ended_ = true;
  renew_timer_.reset();
  if (part_maps_) part_maps_->end();
}

void JobMaking::gone(const std::string& sentence) {
  if (std::exchange(has_ended_, true)) return;
  end();
  callbacks_.on_gone(sentence);
}

void JobMaking::take_away(std::function<void(Result<>)> done) {
  end();
  errands_.clear();
  removal_ = std::make_unique<pods::JobRemoval>(loop_, client_, plan_.manifests, owner_.uid,
                                                std::move(done));
  removal_->begin(false);
}

std::string JobMaking::left() const { return removal_ ? removal_->left() : std::string(); }

}  // namespace gangrun::kubernetes::commands
