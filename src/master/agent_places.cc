#include "master/agent_places.h"

namespace gangrun::master {

namespace {

// The member that is ours in a handle, which else is the cluster's own affair.
constexpr const char* kControl = "control";

base::Result<net::Endpoint> read_control(const base::Json& handle) {
  if (!handle.contains(kControl)) return base::not_found("it serves none");
  const base::Json& control = handle.at(kControl);
  GANGRUN_ASSIGN(auto host, base::json_member<std::string>(control, "host"));
  GANGRUN_ASSIGN(const auto port, base::json_member<std::uint16_t>(control, "port"));
  GANGRUN_ASSIGN(auto fingerprint, base::json_member<std::string>(control, "fingerprint"));
  return net::Endpoint::on_tls(std::move(host), port, std::move(fingerprint));
}

}  // namespace

AgentPlaces::AgentPlaces(Places past) : places_(std::move(past)) {}

journal::PlaceRecord AgentPlaces::started(const job::TaskId& task, int attempt, base::Json handle) {
  places_[{task, attempt}] = handle;
  return {task, attempt, std::move(handle)};
}

std::optional<journal::PlaceRecord> AgentPlaces::reported(
    const gang::Task& task, const job::Address& address,
    const std::optional<registry::ControlAddress>& control) {
  const auto found = places_.find({task.id, task.allocated_attempt});
  if (!control || found == places_.end() || !found->second.is_object()) return std::nullopt;
  base::Json said = {
      {"host", address.host}, {"port", control->port}, {"fingerprint", control->fingerprint}};
  base::Json& recorded = found->second[kControl];
  if (recorded == said) return std::nullopt;
  recorded = std::move(said);
  return journal::PlaceRecord{task.id, task.allocated_attempt, found->second};
}

base::Json AgentPlaces::handle(const gang::Task& task) const {
  const auto found = places_.find({task.id, task.allocated_attempt});
  return found == places_.end() ? base::Json() : found->second;
}

std::map<job::TaskId, net::Endpoint> AgentPlaces::controls(const gang::Gang& gang) const {
  std::map<job::TaskId, net::Endpoint> controls;
  for (const gang::Task& task : gang.tasks()) {
    if (task.phase == gang::Phase::kAsked || task.phase == gang::Phase::kGone) continue;
    auto control = read_control(handle(task));
    if (control.ok()) controls.emplace(task.id, *std::move(control));
  }
  return controls;
}

}  // namespace gangrun::master
