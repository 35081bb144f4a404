#include "agents/agent_places.h"

#include <utility>

namespace gangrun::agents {

namespace {

// The member that is ours in a handle, which else is the place's own affair.
constexpr const char* kControl = "control";
// YARN's own; other places have none of that name.
constexpr const char* kContainer = "container";

base::Result<net::Endpoint> read_control(const base::Json& handle) {
  if (!handle.contains(kControl)) return base::not_found("it serves none");
  const base::Json& control = handle.at(kControl);
  GANGRUN_ASSIGN(auto host, base::json_member<std::string>(control, "host"));
  GANGRUN_ASSIGN(const auto port, base::json_member<std::uint16_t>(control, "port"));
  GANGRUN_ASSIGN(auto fingerprint, base::json_member<std::string>(control, "fingerprint"));
  return net::Endpoint::on_tls(std::move(host), port, std::move(fingerprint));
}

}  // namespace

void AgentPlaces::expect(const job::TaskId& task, int attempt, base::Json handle) {
  places_[task] = {task, attempt, std::move(handle)};
}

cluster::Whereabouts AgentPlaces::started(const job::TaskId& task, int attempt, base::Json handle) {
  cluster::Whereabouts told{task, attempt, std::move(handle)};
  // One that comes late, of an attempt that is given up, is recorded all the same.
  if (const auto found = places_.find(task);
      found != places_.end() && found->second.attempt == attempt) {
    found->second.handle = told.handle;
  }
  return told;
}

std::optional<cluster::Whereabouts> AgentPlaces::reported(
    const job::TaskId& task, const job::Address& address,
    const std::optional<wire::ControlAddress>& control) {
  const auto found = places_.find(task);
  if (!control || found == places_.end() || !found->second.handle.is_object()) return std::nullopt;
  base::Json said = {
      {"host", address.host}, {"port", control->port}, {"fingerprint", control->fingerprint}};
  base::Json& recorded = found->second.handle[kControl];
  if (recorded == said) return std::nullopt;
  recorded = std::move(said);
  return found->second;
}

std::string AgentPlaces::container_of(const job::TaskId& task) const {
  const auto found = places_.find(task);
  if (found == places_.end()) return {};
  return base::json_member_or<std::string>(found->second.handle, kContainer, "").value_or("");
}

std::map<job::TaskId, net::Endpoint> AgentPlaces::controls() const {
  std::map<job::TaskId, net::Endpoint> controls;
  for (const auto& [task, place] : places_) {
    auto control = read_control(place.handle);
    if (control.ok()) controls.emplace(task, *std::move(control));
  }
  return controls;
}

}  // namespace gangrun::agents
