#include "client/place.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "client/agent_way.h"
#include "job/units.h"

namespace gangrun::client {

namespace {

using base::Result;

job::Places rules_of(const std::vector<std::unique_ptr<Place>>& places) {
  std::vector<job::Place> rules;
  rules.reserve(places.size());
  for (const auto& place : places) rules.push_back(place->rules());
  return job::Places(std::move(rules));
}

// "`on: a`, `on: b` and `on: c`".
std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += base::format("`on: {}`", names[i]);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<cluster::Site>> Place::site(const Context& /*context*/) const {
  return base::Error{base::Code::kInternal, "this place has no list of jobs"};
}

Result<std::unique_ptr<TaskWay>> Place::way(const WayInput& input) const {
  return std::unique_ptr<TaskWay>(
      std::make_unique<AgentWay>(input.loop, input.port, input.on_broken));
}

Result<Examination> Place::examine(const DoctorOptions& /*options*/, Context& /*context*/) const {
  return base::Error{base::Code::kInternal, "this place cannot be examined"};
}

Places::Places(std::vector<std::unique_ptr<Place>> places)
    : places_(std::move(places)), rules_(rules_of(places_)) {}

const Place* Places::find(std::string_view name) const {
  const job::Place* rules = rules_.find(name);
  if (rules == nullptr) return nullptr;
  return places_[static_cast<std::size_t>(rules - rules_.all().data())].get();
}

const Place* Places::with_job(std::string_view job) const {
  for (const auto& place : places_) {
    if (place->own_jobs() != nullptr && place->own_jobs()->has_id(job)) return place.get();
  }
  return nullptr;
}

std::vector<std::string> Places::names(const std::function<bool(const Place&)>& chosen) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (chosen(*places_[i])) names.push_back(rules_.all()[i].name);
  }
  return names;
}

std::vector<std::string> Places::names_with_jobs() const {
  return names([](const Place& place) { return place.lists_jobs(); });
}

Result<> Places::check_flag(RunFlag flag, const std::string& given,
                            const job::JobSpec& spec) const {
  const Place* own = find(spec.on);
  if (own == nullptr) return {};
  const auto refused = own->refused_flags();
  const auto found = refused.find(flag);
  if (found == refused.end()) return {};
  const std::string why = found->second.empty() ? "" : base::format(", where {}", found->second);
  return base::invalid_argument(base::format(
      "{} is not allowed with `on: {}`{}; allowed with {}", given, spec.on, why,
      in_words(names([&](const Place& place) { return !place.refused_flags().contains(flag); }))));
}

Result<> Places::check_flags(const RunOptions& options, const job::JobSpec& spec) const {
  const job::Place* rules = rules_.find(spec.on);
  const bool needs_hosts = spec.zookeeper && spec.zookeeper->hosts.empty();
  if (needs_hosts && rules != nullptr && !rules->gives_zookeeper_hosts) {
    return base::invalid_argument(
        base::format("zookeeper.hosts is not given, and with `on: {}` no configuration of Hadoop's "
                     "gives them; allowed: a list of HOST or HOST:PORT",
                     spec.on));
  }
  const auto with_value = [](std::string_view flag, const std::optional<std::string>& value) {
    return base::format("{}: {}", flag, job::in_quotes(value.value_or("")));
  };
  if (options.port)
    GANGRUN_TRY(check_flag(RunFlag::kPort, with_value("--port", options.port), spec));
  if (options.detach) GANGRUN_TRY(check_flag(RunFlag::kDetach, "--detach", spec));
  if (options.host)
    GANGRUN_TRY(check_flag(RunFlag::kHost, with_value("--host", options.host), spec));
  if (options.serve_tls) GANGRUN_TRY(check_flag(RunFlag::kServeTls, "--serve-tls", spec));
  const Place* place = find(spec.on);
  return place == nullptr ? Result<>() : place->check(options, spec);
}

}  // namespace gangrun::client
