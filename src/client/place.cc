#include "client/place.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "client/fail.h"
#include "client/run_session.h"
#include "client/sites.h"
#include "client/text.h"
#include "host/local_site.h"
#include "job/units.h"

namespace gangrun::client {

namespace {

using base::Result;

jobfile::RulesOfPlaces rules_of(const std::vector<Place>& places) {
  std::vector<jobfile::PlaceRules> rules;
  rules.reserve(places.size());
  for (const Place& place : places) rules.push_back(place.rules);
  return jobfile::RulesOfPlaces(std::move(rules));
}

bool has(const std::vector<OwnFlag>& flags, std::string_view name) {
  return std::ranges::find(flags, name, &OwnFlag::name) != flags.end();
}

base::Error not_its_own() { return base::internal("this place keeps no jobs itself"); }

}  // namespace

Result<std::unique_ptr<cluster::Site>> Jobs::site(const Context& /*context*/) const {
  return not_its_own();
}

ExitStatus Jobs::attach(const std::string& /*job*/, const DisplayOptions& /*display*/,
                        Context& context) const {
  return fail(context, not_its_own());
}

Result<std::string> Jobs::ended_job(const std::string& /*job*/, const Context& /*context*/) const {
  return not_its_own();
}

Result<std::unique_ptr<TaskWay>> Jobs::way(const WayInput& input) const {
  return std::unique_ptr<TaskWay>(
      std::make_unique<AgentWay>(input.loop, input.port, input.on_broken));
}

Result<std::unique_ptr<TaskWay>> way_to_task(WayInput input) {
  const Places& places = input.context.places;
  if (const Place* place = places.with_job(input.job, input.context))
    return place->jobs->way(input);
  GANGRUN_ASSIGN(const std::string home, home_of(input.context));
  GANGRUN_ASSIGN(const job::JobSpec spec,
                 host::stored_spec(host::paths_of(home, input.job), places.rules().sections()));
  const Place* place = places.find(spec.on);
  if (place == nullptr) return base::not_found(base::format("{} is on no known place", input.job));
  input.spec = &spec;
  return place->jobs->way(input);
}

Places::Places(std::vector<Place> places) : places_(std::move(places)), rules_(rules_of(places_)) {}

const Place* Places::find(std::string_view name) const {
  const jobfile::PlaceRules* rules = rules_.find(name);
  if (rules == nullptr) return nullptr;
  return &places_[static_cast<std::size_t>(rules - rules_.all().data())];
}

const Place* Places::with_job(std::string_view job, const Context& context) const {
  const auto found = std::ranges::find_if(
      places_, [&](const Place& place) { return place.jobs->has_id(job, context); });
  return found == places_.end() ? nullptr : &*found;
}

std::vector<std::string> Places::names(const std::function<bool(const Place&)>& chosen) const {
  std::vector<std::string> names;
  for (const Place& place : places_) {
    if (chosen(place)) names.push_back(place.rules.name);
  }
  return names;
}

std::vector<std::string> Places::names_with_jobs() const {
  return names([](const Place& place) { return place.jobs->are_listed(); });
}

std::vector<Flag> Places::own_flags(RunOptions& options) const {
  std::map<std::string, OwnFlag> rows;
  for (const Place& place : places_) {
    for (const OwnFlag& row : place.launch.own_flags) rows.emplace(row.name, row);
  }
  std::vector<Flag> flags;
  for (const auto& [name, row] : rows) {
    const FlagTarget target = row.value.empty() ? FlagTarget(&options.switches_of_place[name])
                                                : FlagTarget(&options.of_place[name]);
    flags.push_back({name, target, std::string(row.value), std::string(row.help)});
  }
  return flags;
}

Result<> Places::check_flags(const RunOptions& options, const job::JobSpec& spec) const {
  const jobfile::PlaceRules* rules = rules_.find(spec.on);
  const bool needs_hosts = spec.zookeeper && spec.zookeeper->hosts.empty();
  if (needs_hosts && rules != nullptr && !rules->gives_zookeeper_hosts) {
    return base::invalid_argument(
        base::format("zookeeper.hosts is not given, and with `on: {}` no configuration of Hadoop's "
                     "gives them; allowed: a list of HOST or HOST:PORT",
                     spec.on));
  }
  const Place* place = find(spec.on);
  if (place == nullptr) return {};
  const auto refused = [&](const std::string& given, std::string_view why,
                           const std::function<bool(const Place&)>& takes) {
    std::vector<std::string> takers;
    for (const std::string& name : names(takes)) takers.push_back(base::format("`on: {}`", name));
    return base::invalid_argument(
        base::format("{} is not allowed with `on: {}`{}{}; allowed with {}", given, spec.on,
                     why.empty() ? "" : ", where ", why, list_text(takers)));
  };
  const auto check_own = [&](const std::string& flag, const std::string& given) -> Result<> {
    const auto takes = [&flag](const Place& one) { return has(one.launch.own_flags, flag); };
    if (takes(*place)) return {};
    const bool is_hosting = has(hosting_flags(), flag);
    return refused(given, is_hosting ? place->launch.why_no_hosting_flags : "", takes);
  };
  for (const auto& [flag, value] : options.of_place) {
    if (value) {
      GANGRUN_TRY(check_own(flag, base::format("{}: {}", flag, job::in_quotes(*value))));
    }
  }
  for (const auto& [flag, is_given] : options.switches_of_place) {
    if (is_given) GANGRUN_TRY(check_own(flag, flag));
  }
  const auto detaches = [](const Place& one) { return one.launch.why_no_detach.empty(); };
  if (options.detach && !detaches(*place)) {
    return refused("--detach", place->launch.why_no_detach, detaches);
  }
  return place->launch.check ? place->launch.check(options, spec) : Result<>();
}

}  // namespace gangrun::client
