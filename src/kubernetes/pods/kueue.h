#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "kubernetes/client.h"

// Kueue's hold on the pods of a group, and its words about their turn. Pure.
namespace gangrun::kubernetes::pods {

// The gate at which Kueue keeps pods from every scheduler until it admits their group.
inline constexpr std::string_view kKueueGate = "kueue.x-k8s.io/admission";

// Whether it is being deleted, and Kueue keeps it: until there is another one in its place, which
// waits for its name here.
[[nodiscard]] bool is_kept_by_kueue(const base::Json& pod);
// Takes Kueue's finalizer from the pod.
Request release_request(const std::string& name_space, const base::Json& pod);

// The versions of its API in which the questions below can be asked, the newest first.
inline constexpr std::string_view kKueueVersions[] = {"v1beta2", "v1beta1"};

// A group of pods, and the LocalQueue that it is in.
struct KueueGroup {
  std::string name_space;
  std::string queue;
  std::string name;
};

// The questions to which Kueue has answers. None: not answered, as where the right is missing.
struct KueueTold {
  std::optional<base::Json> waiting{};    // those that wait in the queue, in Kueue's order
  std::optional<base::Json> workloads{};  // a table of all of the namespace
  std::optional<base::Json> own{};        // the group's Workload
};
Request waiting_request(const KueueGroup& group, std::string_view version);
Request workloads_request(const KueueGroup& group, std::string_view version);
Request own_request(const KueueGroup& group, std::string_view version);

// "it is number 3 in queue ml, after a, b; c has quota there; Kueue says "…"".
std::string turn_words(const KueueGroup& group, const KueueTold& told);

}  // namespace gangrun::kubernetes::pods
