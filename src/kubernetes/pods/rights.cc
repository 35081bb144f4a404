#include "kubernetes/pods/rights.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "jobfile/yaml_json.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr const char* kRbacGroup = "rbac.authorization.k8s.io";

bool brings_outputs(const job::JobSpec& spec) {
  const auto has_some = [](const std::optional<std::vector<std::string>>& outputs) {
    return outputs && !outputs->empty();
  };
  return has_some(spec.outputs) || std::ranges::any_of(spec.tasks, [&](const job::TaskSpec& task) {
           return has_some(task.outputs);
         });
}

void add_each(std::vector<Right>& rights, const std::vector<std::string>& verbs,
              const std::string& group, const std::string& resource,
              const std::string& subresource = {}, bool is_for_agents = false) {
  for (const std::string& verb : verbs) {
    rights.push_back({verb, group, resource, subresource, is_for_agents});
  }
}

// Kueue keeps a pod until another one is there, which waits for its name.
void add_release(const job::JobSpec& spec, std::vector<Right>& rights) {
  const KubernetesOptions& own = kubernetes_of(spec);
  const bool may_be_kueue = own.gang_scheduling == GangScheduling::kKueue ||
                            (own.gang_scheduling == GangScheduling::kAuto && !own.queue.empty());
  if (may_be_kueue) rights.push_back({"patch", "", "pods"});
}

void add_scheduling(const job::JobSpec& spec, std::vector<Right>& rights) {
  const GangScheduling scheduling = kubernetes_of(spec).gang_scheduling;
  if (scheduling == GangScheduling::kVolcano) {
    rights.push_back({"create", "scheduling.volcano.sh", "podgroups"});
  }
  if (scheduling == GangScheduling::kWorkload) {
    rights.push_back({"create", "scheduling.k8s.io", "workloads"});
  }
}

std::string resource_of(const Right& right) {
  return right.subresource.empty() ? right.resource : right.resource + "/" + right.subresource;
}

// The rules of a Role: one for each resource, in the order of the rights.
Json rules_of(const std::vector<Right>& rights) {
  Json rules = Json::array();
  for (const Right& right : rights) {
    const Json groups = Json::array({right.group});
    const Json resources = Json::array({resource_of(right)});
    const auto same = std::ranges::find_if(rules, [&](const Json& rule) {
      return rule.at("apiGroups") == groups && rule.at("resources") == resources;
    });
    if (same != rules.end()) {
      (*same)["verbs"].push_back(right.verb);
    } else {
      rules.push_back(
          {{"apiGroups", groups}, {"resources", resources}, {"verbs", Json::array({right.verb})}});
    }
  }
  return rules;
}

}  // namespace

std::string to_string(const Right& right) {
  std::string text = base::format("{} {}", right.verb, resource_of(right));
  if (!right.group.empty()) text += "." + right.group;
  return text;
}

std::string words_of(const std::vector<Right>& rights) {
  std::vector<std::string> words;
  for (const Right& right : rights) words.push_back(to_string(right));
  return base::format("{}", base::join(words, ", "));
}

Json access_attributes(const Right& right, const std::string& name_space) {
  Json attributes = {{"namespace", name_space}, {"verb", right.verb}, {"resource", right.resource}};
  if (!right.group.empty()) attributes["group"] = right.group;
  if (!right.subresource.empty()) attributes["subresource"] = right.subresource;
  return attributes;
}

Json access_review(const Right& right, const std::string& name_space) {
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "SelfSubjectAccessReview"},
          {"spec", {{"resourceAttributes", access_attributes(right, name_space)}}}};
}

base::Result<std::vector<Right>> denied_by(std::span<const base::Result<Json>> reviews,
                                           const std::vector<Right>& rights) {
  std::vector<Right> denied;
  for (std::size_t i = 0; i < rights.size(); ++i) {
    if (!reviews[i].ok()) return reviews[i].error();
    const bool is_allowed = value_at(*reviews[i], {"status", "allowed"}) == true;
    if (!is_allowed) denied.push_back(rights[i]);
  }
  return denied;
}

std::vector<Right> client_rights(const job::JobSpec& spec) {
  std::vector<Right> rights = {
      {"create", "batch", "jobs"},  {"get", "batch", "jobs"},   {"patch", "batch", "jobs"},
      {"delete", "batch", "jobs"},  {"create", "", "services"}, {"list", "", "services"},
      {"create", "", "pods"},       {"list", "", "pods"},       {"watch", "", "pods"},
      {"delete", "", "pods"},       {"get", "", "pods", "log"}, {"list", "", "events"},
      {"create", "", "configmaps"}, {"list", "", "configmaps"}, {"create", "", "secrets"},
      {"list", "", "secrets"},
  };
  // A WebSocket begins with a GET; newer servers ask for the right to create as well.
  if (brings_outputs(spec) && !has_agents(spec)) {
    add_each(rights, {"get", "create"}, "", "pods", "exec");
  }
  if (agents_by(spec) == AgentsBy::kConfigMaps) {
    add_each(rights, {"get", "patch"}, "", "configmaps", "", true);
  }
  if (has_agents(spec)) add_each(rights, {"get", "create"}, "", "pods", "portforward", true);
  add_scheduling(spec, rights);
  add_release(spec, rights);
  return rights;
}

std::vector<Right> detached_client_rights(const job::JobSpec& spec) {
  std::vector<Right> rights;
  add_each(rights, {"create", "get", "patch", "delete"}, "batch", "jobs");
  add_each(rights, {"create"}, "", "services");
  add_each(rights, {"create"}, "", "secrets");
  add_each(rights, {"create", "get", "list", "patch"}, "", "configmaps");
  add_each(rights, {"get", "list"}, "", "pods");
  // As above: both for a WebSocket.
  add_each(rights, {"get", "create"}, "", "pods", "portforward");
  add_scheduling(spec, rights);
  return rights;
}

std::vector<Right> master_rights(const job::JobSpec& spec) {
  std::vector<Right> rights;
  add_each(rights, {"create", "get", "list", "watch", "delete"}, "", "pods");
  add_each(rights, {"list"}, "", "events");
  add_each(rights, {"create", "delete"}, "", "secrets");
  add_each(rights, {"create", "get", "update", "patch", "delete"}, "", "configmaps");
  add_each(rights, {"get", "patch"}, "batch", "jobs");
  add_release(spec, rights);
  return rights;
}

std::string role_of(const std::vector<Right>& rights, const std::string& name_space,
                    const std::string& account) {
  const Json metadata = {{"name", account}, {"namespace", name_space}};
  const std::string rbac = base::format("{}/v1", kRbacGroup);
  const Json objects[] = {
      {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", metadata}},
      {{"apiVersion", rbac}, {"kind", "Role"}, {"metadata", metadata}, {"rules", rules_of(rights)}},
      {{"apiVersion", rbac},
       {"kind", "RoleBinding"},
       {"metadata", metadata},
       {"roleRef", {{"apiGroup", kRbacGroup}, {"kind", "Role"}, {"name", account}}},
       {"subjects",
        Json::array(
            {{{"kind", "ServiceAccount"}, {"name", account}, {"namespace", name_space}}})}}};
  std::string text;
  for (const Json& object : objects) text += "---\n" + jobfile::json_to_yaml(object);
  return text;
}

}  // namespace gangrun::kubernetes::pods
