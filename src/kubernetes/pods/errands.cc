#include "kubernetes/pods/errands.h"

#include <algorithm>

#include "base/format.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

std::uint64_t Errands::ask(kubernetes::Request request, std::function<void(ApiAnswer)> on_done) {
  answered_.clear();
  const std::uint64_t number = ++last_;
  under_way_[number] =
      client_.request(std::move(request), loop_.now() + kRequestLimit,
                      [this, number, on_done = std::move(on_done)](ApiAnswer answer) {
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

std::string task_pods_selector(const std::string& job_id) {
  return base::format("{},!{}", job_selector(job_id), kMasterLabel);
}

std::string words_of_object(const base::Json& object) {
  const std::string kind = text_at(object, {"kind"});
  return base::format("{} {}", kind.empty() ? "object" : kind, name_of(object));
}

bool is_of_job(const base::Json& object, const std::string& job_id) {
  return text_at(object, {"metadata", "labels", kJobLabel}) == job_id;
}

bool is_owned_by(const base::Json& object, const Owner& owner) {
  const base::Json& references = list_at(object, {"metadata", "ownerReferences"});
  return std::ranges::any_of(references, [&owner](const base::Json& reference) {
    return text_at(reference, {"kind"}) == "Job" && text_at(reference, {"name"}) == owner.name &&
           (owner.uid.empty() || text_at(reference, {"uid"}) == owner.uid);
  });
}

std::vector<base::Json> items_of(base::Json list) {
  if (list_at(list, {"items"}).empty()) return {};
  return std::move(list["items"].get_ref<base::Json::array_t&>());
}

}  // namespace gangrun::kubernetes::pods
