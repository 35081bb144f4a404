#include "kubernetes/pods/errands.h"

#include <algorithm>

#include "base/format.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_facts.h"

namespace gangrun::kubernetes::pods {

std::uint64_t Errands::ask(kubernetes::Request request,
                           std::function<void(kubernetes::Answer)> on_done) {
  answered_.clear();
  const std::uint64_t number = ++last_;
  under_way_[number] =
      client_.request(std::move(request), loop_.now() + kRequestLimit,
                      [this, number, on_done = std::move(on_done)](kubernetes::Answer answer) {
                        const auto found = under_way_.find(number);
                        if (found == under_way_.end()) return;
                        answered_.push_back(std::move(found->second));
                        under_way_.erase(found);
                        on_done(std::move(answer));
                      });
  return number;
}

std::string job_selector(const std::string& job_id) {
  return base::format("{}={}", kJobLabel, job_id);
}

std::string words_of_object(const base::Json& object) {
  const auto kind = base::json_member_or<std::string>(object, "kind", "object");
  return base::format("{} {}", kind.ok() ? *kind : "object", name_of(object));
}

bool is_of_job(const base::Json& object, const std::string& job_id) {
  return pod_facts(object, "").job == job_id;
}

bool is_owned_by(const base::Json& object, const Owner& owner) {
  const auto metadata = object.is_object() ? object.find("metadata") : object.end();
  if (!object.is_object() || metadata == object.end()) return false;
  const auto references =
      metadata->is_object() ? metadata->find("ownerReferences") : metadata->end();
  if (references == metadata->end() || !references->is_array()) return false;
  return std::ranges::any_of(*references, [&owner](const base::Json& reference) {
    const auto text = [&reference](std::string_view key) {
      return base::json_member_or<std::string>(reference, key, "").value_or("");
    };
    return text("kind") == "Job" && text("name") == owner.name &&
           (owner.uid.empty() || text("uid") == owner.uid);
  });
}

std::vector<base::Json> items_of(base::Json list) {
  std::vector<base::Json> items;
  const auto found = list.is_object() ? list.find("items") : list.end();
  if (!list.is_object() || found == list.end() || !found->is_array()) return items;
  for (base::Json& item : *found) items.push_back(std::move(item));
  return items;
}

}  // namespace gangrun::kubernetes::pods
