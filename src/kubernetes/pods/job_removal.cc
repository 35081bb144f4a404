#include "kubernetes/pods/job_removal.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/pods/kueue.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"

namespace gangrun::kubernetes::pods {

namespace {

constexpr base::Duration kFirstLook = std::chrono::milliseconds(50);
constexpr base::Duration kLongestLook = std::chrono::seconds(1);
// The grace of a pod that still runs.
constexpr int kGraceSeconds = 1;
constexpr std::size_t kMaxTold = 5;

std::string last_word(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

JobRemoval::JobRemoval(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
                       const std::string& uid, std::function<void(base::Result<>)> done)
    : loop_(loop),
      manifests_(manifests),
      done_(std::move(done)),
      errands_(loop, client),
      pause_(kFirstLook, kLongestLook),
      owner_{owner_name(manifests.input()), uid} {
  const std::string& name_space = manifests_.input().name_space;
  owner_path_ = owner_path(manifests_.input());
  collections_.insert(pods_path(name_space));
  for (const base::Json& object : manifests_.objects({})) {
    collections_.insert(collection_path(object, name_space));
  }
}

void JobRemoval::spare_owner() {
  spares_owner_ = true;
  collections_ = {pods_path(manifests_.input().name_space)};
}

kubernetes::Request JobRemoval::listing(const std::string& path) const {
  kubernetes::Request request;
  request.path = path;
  const std::string& job_id = manifests_.input().job_id;
  request.query = {
      {"labelSelector", spares_owner_ ? task_pods_selector(job_id) : job_selector(job_id)}};
  request.max_answer_bytes = kubernetes::kMaxPageBytes;
  return request;
}

bool JobRemoval::is_owner(const ApiAnswer& answer) const {
  if (!answer.object.ok()) return answer.object.error().code != base::Code::kNotFound;
  const base::Json& object = *answer.object;
  return is_of_job(object, manifests_.input().job_id) &&
         (owner_.uid.empty() || uid_of(object) == owner_.uid);
}

bool JobRemoval::is_left(const base::Json& object) const {
  return !is_after_deletion_ || !is_being_deleted(object) || is_kept_by_kueue(object);
}

void JobRemoval::begin(bool is_after_deletion) {
  is_after_deletion_ = is_after_deletion;
  limit_ = loop_.now() + kRemovalLimit;
  kubernetes::Request request;
  request.path = owner_path_;
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) { on_owner(answer); });
}

void JobRemoval::on_owner(const ApiAnswer& answer) {
  has_owner_ = is_owner(answer);
  if (has_owner_ && answer.object.ok()) owner_.uid = uid_of(*answer.object);
  errands_.ask(listing(pods_path(manifests_.input().name_space)), [this](ApiAnswer listed) {
    on_pods(listed.object.ok() ? items_of(*std::move(listed.object)) : std::vector<base::Json>());
  });
}

void JobRemoval::on_pods(const std::vector<base::Json>& pods) {
  for (const base::Json& pod : pods) {
    if (is_owned_by(pod, owner_) && is_left(pod)) delete_pod(pod);
  }
  delete_owner();
}

// Whatever comes of it, look() finds what is left.
void JobRemoval::delete_pod(const base::Json& pod) {
  const PodFacts facts = pod_facts(pod, "");
  const bool has_ended = facts.is_over() || !facts.is_scheduled();
  kubernetes::Request request;
  request.method = "DELETE";
  request.path = base::format("{}/{}", pods_path(manifests_.input().name_space), facts.name);
  request.body = {
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", facts.uid}}}};
  if (has_ended || !is_after_deletion_) {
    request.body["gracePeriodSeconds"] = has_ended ? 0 : kGraceSeconds;
  }
  errands_.ask(std::move(request), [](const ApiAnswer&) {});
}

void JobRemoval::delete_owner() {
  if (!has_owner_ || spares_owner_) return look();
  kubernetes::Request request;
  request.method = "DELETE";
  request.path = owner_path_;
  request.body = {
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
  if (!owner_.uid.empty()) request.body["preconditions"] = {{"uid", owner_.uid}};
  errands_.ask(std::move(request), [this](ApiAnswer answer) {
    if (!answer.object.ok()) trouble_ = answer.object.error().message;
    look();
  });
}

void JobRemoval::look() {
  asked_ = collections_;
  if (!spares_owner_) asked_.insert(owner_path_);
  for (const std::string& path : collections_) {
    errands_.ask(listing(path), [this, path](ApiAnswer answer) {
      std::vector<std::string> left;
      if (answer.object.ok()) {
        for (const base::Json& object : items_of(*std::move(answer.object))) {
          if (!is_owned_by(object, owner_) || !is_left(object)) continue;
          release(object);
          left.push_back(base::format("{} {}", last_word(path), name_of(object)));
        }
      } else if (answer.object.error().code == base::Code::kPermissionDenied) {
        // A client that may make objects but not list them cannot look: they go with their owner.
        collections_.erase(path);
      } else {
        left.push_back(last_word(path));
        trouble_ = answer.object.error().message;
      }
      looked_at(path, std::move(left));
    });
  }
  if (!spares_owner_) look_at_owner();
}

void JobRemoval::look_at_owner() {
  kubernetes::Request request;
  request.path = owner_path_;
  errands_.ask(std::move(request), [this](const ApiAnswer& answer) {
    std::vector<std::string> left;
    const bool is_going = answer.object.ok() && !is_left(*answer.object);
    if (has_owner_ && !is_going && is_owner(answer))
      left.push_back("job " + last_word(owner_path_));
    looked_at(owner_path_, std::move(left));
  });
}

// Kueue would keep each pod of a group that does not end as a whole, forever. Whatever comes of
// it, the next look finds what is left.
void JobRemoval::release(const base::Json& pod) {
  if (!is_kept_by_kueue(pod)) return;
  errands_.ask(release_request(manifests_.input().name_space, pod),
               [this](const ApiAnswer& answer) {
                 if (!answer.object.ok()) trouble_ = answer.object.error().message;
               });
}

void JobRemoval::looked_at(const std::string& path, std::vector<std::string> found) {
  left_[path] = std::move(found);
  asked_.erase(path);
  if (!asked_.empty()) return;
  const std::vector<std::string> names = names_left();
  if (names.empty()) return done({});
  if (loop_.now() >= limit_) {
    return done(base::deadline_exceeded(
        base::format("after {}, these are still in the namespace {}: {}",
                     base::to_words(kRemovalLimit), manifests_.input().name_space, left())));
  }
  timer_ = loop_.after(pause_.next(), [this] { look(); });
}

std::vector<std::string> JobRemoval::names_left() const {
  std::vector<std::string> names;
  for (const auto& [collection, objects] : left_) {
    names.insert(names.end(), objects.begin(), objects.end());
  }
  return names;
}

std::string JobRemoval::left() const {
  const std::vector<std::string> names = names_left();
  std::string words =
      names.empty() ? "the API server has not answered yet" : base::first_and_more(names, kMaxTold);
  if (!trouble_.empty()) words += base::format(" ({})", trouble_);
  return words;
}

void JobRemoval::done(base::Result<> removed) {
  // It may be what ends us.
  const auto tell = std::move(done_);
  loop_.post([tell, removed = std::move(removed)] { tell(removed); });
}

}  // namespace gangrun::kubernetes::pods
