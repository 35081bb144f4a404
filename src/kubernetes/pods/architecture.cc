#include "kubernetes/pods/architecture.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/pod_template.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;
using Names = std::set<std::string>;

// By the numbers that ELF has for them.
constexpr std::array<std::pair<unsigned, std::string_view>, 2> kArchitectures = {
    {{62, "amd64"}, {183, "arm64"}}};
constexpr std::string_view kElf(
    "\x7f"
    "ELF",
    4);
constexpr std::size_t kMachineAt = 18;

Names all_names() {
  Names names;
  for (const auto& [number, name] : kArchitectures) names.emplace(name);
  return names;
}

Names both(const Names& one, const Names& other) {
  Names common;
  std::ranges::set_intersection(one, other, std::inserter(common, common.end()));
  return common;
}

Names texts_in(const Json& list) {
  Names texts;
  for (const Json& item : list) {
    if (item.is_string()) texts.insert(item.get<std::string>());
  }
  return texts;
}

// Those that a term of a node affinity allows. `asked` gets what it names.
Names of_term(const Json& term, Names& asked) {
  Names allowed = all_names();
  for (const Json& expression : list_at(term, {"matchExpressions"})) {
    if (text_at(expression, {"key"}) != kArchitectureLabel) continue;
    const Names values = texts_in(list_at(expression, {"values"}));
    const std::string how = text_at(expression, {"operator"});
    if (how == "In") {
      asked.insert(values.begin(), values.end());
      allowed = both(allowed, values);
    } else if (how == "NotIn") {
      for (const std::string& value : values) allowed.erase(value);
    }
  }
  return allowed;
}

// `selected` by the job, if it is not empty, goes before what the pod says.
Names of_pod(const Json& pod, std::string selected, Names& asked) {
  Names allowed = all_names();
  if (selected.empty()) selected = text_at(pod, {"spec", "nodeSelector", kArchitectureLabel});
  if (!selected.empty()) {
    asked.insert(selected);
    allowed = both(allowed, {selected});
  }
  const Json& terms =
      list_at(pod, {"spec", "affinity", "nodeAffinity",
                    "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (terms.empty()) return allowed;
  // A node has to fit one of them.
  Names of_any;
  for (const Json& term : terms) of_any.merge(of_term(term, asked));
  return both(allowed, of_any);
}

}  // namespace

std::string_view own_architecture() {
#if defined(__aarch64__)
  return "arm64";
#else
  return "amd64";
#endif
}

std::string_view architecture_of(std::string_view program) {
  if (!program.starts_with(kElf) || program.size() < kMachineAt + 2) return {};
  // The lower byte is first, on both.
  const unsigned machine =
      static_cast<unsigned char>(program[kMachineAt]) |
      static_cast<unsigned>(static_cast<unsigned char>(program[kMachineAt + 1])) << 8U;
  const auto* found =
      std::ranges::find(kArchitectures, machine, &std::pair<unsigned, std::string_view>::first);
  return found == kArchitectures.end() ? std::string_view() : found->second;
}

base::Result<std::string> agents_architecture(const job::JobSpec& spec, std::string_view own) {
  const auto& selector = kubernetes_of(spec).node_selector;
  const auto found = selector.find(kArchitectureLabel);
  const std::string of_job = found == selector.end() ? "" : found->second;
  Names allowed = all_names();
  Names asked;
  for (const job::TaskSpec& task : spec.tasks) {
    allowed = both(allowed, of_pod(template_of(spec, task), of_job, asked));
  }
  if (allowed.contains(std::string(own))) return std::string(own);
  if (!allowed.empty()) return *allowed.begin();
  return base::invalid_argument(base::format(
      "{}: {} is requested, and the agents in a job's pods are of one architecture; allowed: {} "
      "for all tasks, or kubernetes.agent_image, an image for all of them",
      kArchitectureLabel, base::join(asked, ", "), base::join(all_names(), " or ")));
}

std::string words_of_other_processor(std::string_view message) {
  if (message.find("exec format error") == std::string_view::npos) return {};
  return base::format(
      "; the node has another processor than the program is for: choose an image for it, or nodes "
      "by `node_selector` of `kubernetes`, as {{{}: {}}}",
      kArchitectureLabel, own_architecture());
}

}  // namespace gangrun::kubernetes::pods
