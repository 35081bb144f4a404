#include "kubernetes/pods/agent_part_maps.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/refusal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Code;
using base::Json;

// Maps that are sent at once. Over a slow line more would not be done within a request's limit.
constexpr int kCreationsAtOnce = 3;
constexpr base::Duration kFirstMapPause = std::chrono::milliseconds(20);
constexpr base::Duration kLongestMapPause = std::chrono::seconds(1);
// More are not a race, but somebody who takes the owner away or refuses it for good.
constexpr int kMaxPatches = 6;
constexpr std::size_t kToldFinalizers = 3;
constexpr int kTooLarge = 413;

// The words of etcd when it takes nothing any more, which the server passes on as an error of its
// own.
bool is_store_full(const base::Error& error) {
  return error.message.find("database space exceeded") != std::string::npos;
}

bool may_be_taken_later(const ApiAnswer& answer) {
  const base::Error& error = answer.object.error();
  if (is_store_full(error)) return false;
  return may_help_to_repeat(error) || (answer.refusal && is_quota_conflict(*answer.refusal));
}

// The end of a sentence: how the user can help.
std::string way_out(const ApiAnswer& answer, std::size_t maps) {
  const base::Error& error = answer.object.error();
  if (is_store_full(error)) {
    return "; etcd, where the cluster keeps its objects, is full, and its administrators have to "
           "make room there";
  }
  if (error.code == Code::kPermissionDenied) {
    return "; agents in pods need the rights to create, get and patch config maps, on some "
           "clusters also to delete them (docs/kubernetes.md has the rights that a job needs as a "
           "Role)";
  }
  if (error.code == Code::kResourceExhausted) {
    return base::format("; agents in pods need {} config maps in a namespace, once for all jobs",
                        maps);
  }
  if (answer.refusal && answer.refusal->status == kTooLarge) {
    return "; a proxy before the API server seems to refuse large requests: this one has up to "
           "1.4 MiB";
  }
  return "";
}

std::string finalizers_of(const Json& map) {
  std::vector<std::string> names;
  for (const Json& name : list_at(map, {"metadata", "finalizers"})) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names.empty() ? "none" : base::first_and_more(names, kToldFinalizers);
}

}  // namespace

AgentPartMaps::AgentPartMaps(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                             const AgentParts& parts, std::string name_space, Callbacks callbacks,
                             PartMapLimits limits)
    : loop_(loop),
      logger_(logger),
      parts_(parts),
      name_space_(std::move(name_space)),
      callbacks_(std::move(callbacks)),
      limits_(limits),
      errands_(loop, client),
      creations_(loop, kCreationsAtOnce),
      maps_(parts.map_count()) {}

void AgentPartMaps::begin(Owner owner) {
  owner_ = std::move(owner);
  look_at_all();
}

void AgentPartMaps::check_again(std::function<void()> then) {
  if (has_ended_) return;
  waiting_.push_back(std::move(then));
  if (is_looking_) {
    has_to_look_again_ = true;
  } else if (was_ready_) {
    look_at_all();
  }
}

void AgentPartMaps::end() {
  has_ended_ = true;
  is_looking_ = false;
  waiting_.clear();
  errands_.clear();
  for (Map& map : maps_) map = Map();
}

std::string AgentPartMaps::waiting_for() const {
  std::string words =
      base::format("the agent's config maps: {} of {} are there", count_there(), maps_.size());
  const auto kept =
      std::ranges::find_if(maps_, [](const Map& map) { return !map.trouble.empty(); });
  if (kept != maps_.end()) words += base::format(" ({})", kept->trouble);
  return words;
}

std::size_t AgentPartMaps::count_there() const {
  return static_cast<std::size_t>(std::ranges::count_if(maps_, &Map::is_there));
}

void AgentPartMaps::look_at_all() {
  is_looking_ = true;
  has_to_look_again_ = false;
  limit_ = loop_.now() + limits_.progress;
  for (std::size_t index = 0; index < maps_.size(); ++index) {
    maps_[index] = Map();
    maps_[index].pause = base::Pause(kFirstMapPause, kLongestMapPause);
    look(index);
  }
}

kubernetes::Request AgentPartMaps::request_of(std::size_t index) const {
  kubernetes::Request request;
  request.path =
      base::format("/api/v1/namespaces/{}/configmaps/{}", name_space_, parts_.map_name(index));
  request.wants_metadata_only = true;
  request.patience = limits_.patience;
  return request;
}

void AgentPartMaps::look(std::size_t index, bool is_whole) {
  kubernetes::Request request = request_of(index);
  request.wants_metadata_only = !is_whole;
  errands_.ask(std::move(request), [this, index, is_whole](const ApiAnswer& answer) {
    on_found(index, answer, is_whole);
  });
}

void AgentPartMaps::look_again(std::size_t index, std::string trouble) {
  Map& map = maps_[index];
  map.trouble = std::move(trouble);
  map.again = loop_.after(map.pause.next(), [this, index] { look(index); });
}

void AgentPartMaps::on_found(std::size_t index, const ApiAnswer& answer, bool is_whole) {
  if (!answer.object.ok()) {
    if (answer.object.error().code == Code::kNotFound) return create(index);
    return on_refused(index, "cannot be read", answer);
  }
  const Json& map = *answer.object;
  if (is_being_deleted(map)) return on_deleting(index, map);
  maps_[index].deleting_since.reset();
  if (!is_checked(uid_of(map))) {
    if (!is_whole) return look(index, true);
    const base::Result<> checked = parts_.check(index, map);
    if (!checked.ok()) return gone(checked.error().message, job::Reason::kClusterGone);
    set_checked(index, uid_of(map));
  }
  if (is_owned_by(map, owner_)) return settle(index);
  add_owner(index, map);
}

void AgentPartMaps::on_deleting(std::size_t index, const Json& map) {
  const std::string name = parts_.map_name(index);
  std::optional<base::Instant>& since = maps_[index].deleting_since;
  if (!since) since = loop_.now();
  if (loop_.now() - *since < limits_.deletion) {
    return look_again(index, base::format("ConfigMap {} is being deleted", name));
  }
  gone(base::format("ConfigMap {} has been waiting for its deletion for {} (finalizers: {}), and "
                    "only then it can be made again",
                    name, base::to_words(limits_.deletion), finalizers_of(map)),
       job::Reason::kClusterGone);
}

void AgentPartMaps::create(std::size_t index) {
  maps_[index].turn = creations_.take([this, index] {
    kubernetes::Request request = request_of(index);
    request.method = "POST";
    request.path = base::format("/api/v1/namespaces/{}/configmaps", name_space_);
    request.query = {kubernetes::kStrictFields};
    request.body = parts_.map(index, name_space_, owner_);
    errands_.ask(std::move(request),
                 [this, index](const ApiAnswer& answer) { on_created(index, answer); });
  });
}

void AgentPartMaps::on_created(std::size_t index, const ApiAnswer& answer) {
  maps_[index].turn.reset();
  if (answer.object.ok()) {
    set_checked(index, uid_of(*answer.object));
    return settle(index);
  }
  // By another job, or by a try of ours whose answer was lost.
  if (answer.object.error().code == Code::kAlreadyExists) return look_again(index, "");
  on_refused(index, "cannot be created", answer);
}

void AgentPartMaps::add_owner(std::size_t index, const Json& map) {
  ++maps_[index].patches;
  kubernetes::Request request = request_of(index);
  request.method = "PATCH";
  request.query = {kubernetes::kStrictFields};
  request.content_type = "application/json-patch+json";
  request.body = owner_patch(map, owner_);
  errands_.ask(std::move(request),
               [this, index](const ApiAnswer& answer) { on_owner_added(index, answer); });
}

void AgentPartMaps::on_owner_added(std::size_t index, const ApiAnswer& answer) {
  constexpr const char* kWhat = "cannot be given this job as an owner";
  Map& map = maps_[index];
  // The collector may have decided to remove it before it had this owner.
  if (answer.object.ok() && map.patches == 1) return look(index);
  if (answer.object.ok() && map.patches < kMaxPatches) return look_again(index, "");
  if (answer.object.ok()) {
    return gone(base::format("ConfigMap {} {}: something takes it away again",
                             parts_.map_name(index), kWhat),
                job::Reason::kClusterGone);
  }
  const base::Error& error = answer.object.error();
  // It is another one by now, or gone.
  const bool has_changed = error.code == Code::kNotFound ||
                           error.code == Code::kFailedPrecondition ||
                           error.code == Code::kInvalidArgument;
  if (has_changed && map.patches < kMaxPatches) return look_again(index, error.message);
  on_refused(index, kWhat, answer);
}

void AgentPartMaps::on_refused(std::size_t index, std::string_view what, const ApiAnswer& answer) {
  const base::Error& error = answer.object.error();
  const std::string sentence =
      base::format("ConfigMap {} {}: {}", parts_.map_name(index), what, error.message);
  // A job whose pods run is not ended by a server that is silent.
  if (may_be_taken_later(answer) && (was_ready_ || loop_.now() < limit_)) {
    logger_.debug("{}", sentence);
    return look_again(index, error.message);
  }
  gone(sentence + way_out(answer, maps_.size()), job::Reason::kApiServer);
}

void AgentPartMaps::settle(std::size_t index) {
  maps_[index].is_there = true;
  maps_[index].trouble.clear();
  limit_ = loop_.now() + limits_.progress;
  if (count_there() == maps_.size()) finish();
}

void AgentPartMaps::finish() {
  if (has_to_look_again_) return look_at_all();
  is_looking_ = false;
  // Any of them may be the end of this.
  const std::vector<std::function<void()>> waiting = std::exchange(waiting_, {});
  if (!std::exchange(was_ready_, true)) callbacks_.on_ready();
  for (const auto& then : waiting) then();
}

void AgentPartMaps::gone(const std::string& sentence, job::Reason reason) {
  end();
  callbacks_.on_gone(sentence, reason);
}

bool AgentPartMaps::is_checked(const std::string& uid) const {
  return checked_.contains(uid) || callbacks_.is_checked(uid);
}

void AgentPartMaps::set_checked(std::size_t index, const std::string& uid) {
  if (uid.empty()) return;
  checked_.insert(uid);
  callbacks_.on_checked(parts_.map_name(index), uid);
}

}  // namespace gangrun::kubernetes::pods
