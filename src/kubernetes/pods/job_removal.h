#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/pause.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// How long it is waited for that nothing of a job is left.
inline constexpr std::chrono::seconds kRemovalLimit{60};

// Deletes a job's pods and their owner, with which all else goes, and waits until all is gone. What
// only has the job's label or names is somebody else's, and stays.
class JobRemoval {
 public:
  // `uid` is the owner's; empty: it is not known. `done` is called once; its error names what is
  // left.
  JobRemoval(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
             const std::string& uid, std::function<void(base::Result<>)> done);
  // Before begin(): the owner stays, and all but the pods of tasks. A master in a pod does so,
  // which is the owner's itself.
  void spare_owner();

  // `is_after_deletion`: somebody else has deleted the owner, so pods keep the time to end that
  // they have, and what is being deleted counts as gone.
  void begin(bool is_after_deletion);
  // The objects that the last look found ("pods a, configmaps b"), or that nobody answers.
  [[nodiscard]] std::string left() const;

 private:
  [[nodiscard]] kubernetes::Request listing(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> names_left() const;
  [[nodiscard]] bool is_left(const base::Json& object) const;
  // Whether this is the owner, or an answer that does not say that it is gone.
  [[nodiscard]] bool is_owner(const ApiAnswer& answer) const;
  void on_owner(const ApiAnswer& answer);
  void on_pods(const std::vector<base::Json>& pods);
  void delete_pod(const base::Json& pod);
  void delete_owner();
  void look();
  void look_at_owner();
  void release(const base::Json& pod);
  void looked_at(const std::string& path, std::vector<std::string> found);
  void done(base::Result<> removed);

  net::EventLoop& loop_;
  const Manifests& manifests_;
  std::function<void(base::Result<>)> done_;
  Errands errands_;
  base::Instant limit_;
  base::Pause pause_;
  Owner owner_;
  bool has_owner_ = false;
  bool is_after_deletion_ = false;
  bool spares_owner_ = false;
  std::string owner_path_;
  std::set<std::string> collections_;                     // that are listed
  std::map<std::string, std::vector<std::string>> left_;  // by collection: what was there last
  std::set<std::string> asked_;                           // and not answered yet
  std::string trouble_;
  net::Timer timer_;
};

}  // namespace gangrun::kubernetes::pods
