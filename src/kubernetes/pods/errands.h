#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// How long one request may take, with all that the client repeats.
inline constexpr std::chrono::seconds kRequestLimit{30};

// Requests that are under way; with it they end.
class Errands {
 public:
  Errands(net::EventLoop& loop, kubernetes::Client& client) : loop_(loop), client_(client) {}

  // Gives its number, by which it is dropped when it is not wanted any more.
  std::uint64_t ask(kubernetes::Request request, std::function<void(ApiAnswer)> on_done);
  void drop(std::uint64_t number) { under_way_.erase(number); }
  [[nodiscard]] std::size_t count() const { return under_way_.size(); }
  void clear() { under_way_.clear(); }

 private:
  net::EventLoop& loop_;
  kubernetes::Client& client_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, kubernetes::ActivityHandle> under_way_;
  std::vector<kubernetes::ActivityHandle> answered_;  // each may be what is calling back
};

// The selector of the job's objects in one namespace: "gangrun/job=ID".
std::string job_selector(const std::string& job_id);
// The same without a master's pod.
std::string task_pods_selector(const std::string& job_id);
// The kind and name of an object: "ConfigMap j-files".
std::string words_of_object(const base::Json& object);
bool is_of_job(const base::Json& object, const std::string& job_id);
// Whether it belongs to this owner of a job; where the owner's uid is not known, by its name. What
// has only our labels is somebody else's.
bool is_owned_by(const base::Json& object, const Owner& owner);
// The elements of a List.
std::vector<base::Json> items_of(base::Json list);

}  // namespace gangrun::kubernetes::pods
