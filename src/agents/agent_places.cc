#include "agents/agent_places.h"

#include <utility>

#include "base/described_json.h"
#include "wire/agent_questions.h"

namespace gangrun::agents {

namespace {

// The member that is ours in a handle, which else is the place's own affair.
struct CalledAt {
  wire::ControlPlace control;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(CalledAt, control);
};

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
  const CalledAt said{{address.host, control->port, control->fingerprint}};
  const auto recorded = base::from_json<CalledAt>(found->second.handle);
  if (recorded.ok() && recorded->control == said.control) return std::nullopt;
  found->second.handle.update(base::to_json(said));
  return found->second;
}

std::string AgentPlaces::container_of(const job::TaskId& task) const {
  const auto found = places_.find(task);
  if (found == places_.end()) return {};
  const auto told = base::from_json<cluster::NamedContainer>(found->second.handle);
  return told.ok() ? told->container : std::string();
}

std::map<job::TaskId, net::Endpoint> AgentPlaces::controls() const {
  std::map<job::TaskId, net::Endpoint> controls;
  for (const auto& [task, place] : places_) {
    const auto told = base::from_json<CalledAt>(place.handle);
    if (!told.ok()) continue;
    const auto& [host, port, fingerprint] = told->control;
    controls.emplace(task, net::Endpoint::on_tls(host, port, fingerprint));
  }
  return controls;
}

}  // namespace gangrun::agents
