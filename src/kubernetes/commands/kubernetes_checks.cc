#include "kubernetes/commands/kubernetes_checks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/where_pods_work.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";
constexpr std::string_view kVolcanoGroup = "scheduling.volcano.sh";
constexpr std::string_view kSchedulingGroup = "scheduling.k8s.io";
// Alone of that group's versions it has Workload (Kubernetes 1.35, off by default).
constexpr std::string_view kWorkloadVersion = "v1alpha1";

bool has_version(const Json& group, std::string_view version) {
  return std::ranges::any_of(list_at(group, {"versions"}), [version](const Json& entry) {
    return text_at(entry, {"version"}) == version;
  });
}

base::Error not_there(pods::GangScheduling scheduling, std::string_view what) {
  return base::invalid_argument(base::format(
      "kubernetes.gang_scheduling: '{}': the cluster has no {}; allowed here: auto, hold",
      to_string(scheduling), what));
}

Result<pods::GangScheduling> chosen(const job::JobSpec& spec, const GangAbilities& abilities) {
  const pods::GangScheduling wanted = pods::kubernetes_of(spec).gang_scheduling;
  if (wanted == pods::GangScheduling::kKueue && !abilities.has_kueue) {
    return not_there(wanted, "Kueue");
  }
  if (wanted == pods::GangScheduling::kVolcano && !abilities.has_volcano) {
    return not_there(wanted, "Volcano");
  }
  if (wanted == pods::GangScheduling::kWorkload && !abilities.has_workload) {
    return not_there(wanted, "Workload (scheduling.k8s.io/v1alpha1)");
  }
  return wanted;
}

// The questions that check_cluster asks before those for rights.
constexpr std::size_t kBeforeReviews = 2;

kubernetes::Request review_request(const pods::Right& right, const std::string& name_space) {
  return {.method = "POST",
          .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
          .body = pods::access_review(right, name_space)};
}

Result<> check_namespace(const Result<Json>& answer, const kubernetes::Access& access) {
  if (answer.ok()) return {};
  // Many may not look at namespaces, and work in one.
  if (answer.error().code == base::Code::kPermissionDenied) return {};
  if (answer.error().code != base::Code::kNotFound) return answer.error();
  return base::invalid_argument(
      base::format("kubernetes.namespace: '{}' is not a namespace of the cluster {} (context '{}')",
                   access.name_space, access.remote.url, access.context));
}

// A job can do without those of agents.
std::string way_without(const std::vector<pods::Right>& missing) {
  const bool is_of_agents =
      std::ranges::all_of(missing, [](const pods::Right& right) { return right.is_for_agents; });
  if (!is_of_agents) return {};
  return base::format(
      "; agents need that, and `--agents none` runs the job without them: without "
      "{}",
      pods::what_agents_bring());
}

}  // namespace

GangAbilities gang_abilities(const Json& groups) {
  GangAbilities abilities;
  for (const Json& group : list_at(groups, {"groups"})) {
    const std::string name = text_at(group, {"name"});
    abilities.has_kueue = abilities.has_kueue || name == kKueueGroup;
    abilities.has_volcano = abilities.has_volcano || name == kVolcanoGroup;
    abilities.has_workload = abilities.has_workload ||
                             (name == kSchedulingGroup && has_version(group, kWorkloadVersion));
  }
  return abilities;
}

Result<pods::GangScheduling> gang_scheduling_of(const job::JobSpec& spec,
                                                const GangAbilities& abilities) {
  const pods::KubernetesOptions& own = pods::kubernetes_of(spec);
  if (own.gang_scheduling != pods::GangScheduling::kAuto) {
    return chosen(spec, abilities);
  }
  const bool has_queue = !own.queue.empty();
  if (has_queue && abilities.has_kueue) return pods::GangScheduling::kKueue;
  if (has_queue && abilities.has_volcano) return pods::GangScheduling::kVolcano;
  if (has_queue) {
    return base::invalid_argument(base::format(
        "kubernetes.queue: '{}': the cluster has neither Kueue nor Volcano, which have "
        "queues; allowed here: none",
        own.queue));
  }
  return abilities.has_workload ? pods::GangScheduling::kWorkload : pods::GangScheduling::kHold;
}

std::vector<Result<Json>> ask_all(net::EventLoop& loop, kubernetes::Client& client,
                                  std::vector<kubernetes::Request> requests, base::Instant deadline,
                                  const std::function<bool()>& is_cancelled) {
  std::vector<std::optional<Result<Json>>> answers(requests.size());
  std::size_t missing = requests.size();
  std::vector<kubernetes::ActivityHandle> asked;
  asked.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    asked.push_back(client.request(std::move(requests[i]), deadline, [&, i](ApiAnswer a) {
      answers[i] = std::move(a.object);
      --missing;
    }));
  }
  (void)loop.run_until([&] { return missing == 0 || is_cancelled(); }, deadline + base::seconds(1));
  std::vector<Result<Json>> given;
  given.reserve(answers.size());
  for (auto& answer : answers) {
    given.push_back(answer ? *std::move(answer)
                           : Result<Json>(base::deadline_exceeded("the API server's answer")));
  }
  return given;
}

Result<std::vector<pods::Right>> missing_rights(net::EventLoop& loop, kubernetes::Client& client,
                                                const std::vector<pods::Right>& rights,
                                                base::Instant deadline,
                                                const std::function<bool()>& is_cancelled) {
  std::vector<kubernetes::Request> requests;
  for (const pods::Right& right : rights) {
    requests.push_back(review_request(right, client.access().name_space));
  }
  return pods::denied_by(ask_all(loop, client, std::move(requests), deadline, is_cancelled),
                         rights);
}

Result<pods::GangScheduling> check_cluster(net::EventLoop& loop, kubernetes::Client& client,
                                           const job::JobSpec& spec,
                                           const std::vector<pods::Right>& rights,
                                           base::Instant deadline,
                                           const std::function<bool()>& is_cancelled) {
  const kubernetes::Access& access = client.access();
  std::vector<kubernetes::Request> requests = {{.path = "/api/v1/namespaces/" + access.name_space},
                                               {.path = "/apis"}};
  for (const pods::Right& right : rights)
    requests.push_back(review_request(right, access.name_space));
  const auto answers = ask_all(loop, client, std::move(requests), deadline, is_cancelled);
  if (is_cancelled()) {
    return base::Error{base::Code::kCancelled, "the API server was not asked to the end"};
  }
  const std::string at = base::format("the API server {} ({})", access.remote.url, access.source);
  const auto is_there = check_namespace(answers[0], access);
  if (!is_there.ok()) return is_there.error().context(at);
  const auto missing = pods::denied_by(std::span(answers).subspan(kBeforeReviews), rights);
  if (!missing.ok()) return missing.error().context(at);
  if (!missing->empty()) {
    return base::Error{
        base::Code::kPermissionDenied,
        base::format("{}: in the namespace '{}' you have no right to {} "
                     "(docs/kubernetes.md has the rights that a job needs as a Role){}",
                     at, access.name_space, pods::words_of(*missing), way_without(*missing))};
  }
  return gang_scheduling_of(spec, answers[1].ok() ? gang_abilities(*answers[1]) : GangAbilities());
}

}  // namespace gangrun::kubernetes::commands
