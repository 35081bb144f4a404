#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "job/task_id.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/job_objects.h"
#include "kubernetes/pods/job_removal.h"
#include "kubernetes/pods/kueue_look.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_run.h"
#include "net/event_loop.h"
#include "net/posts.h"

namespace gangrun::kubernetes::pods {

// All that the book has to know of the job. `random` is from 0 to 1.
PodBook::Options book_options(const Manifests& manifests, std::function<double()> random);

// The pods of one job at the API server, with all that they need there: carries out what the book
// decides, and tells it what becomes of that. Owns nothing of the cluster: what it makes there
// belongs to an object with a deadline, which it keeps moving.
class JobPods {
 public:
  struct Callbacks {
    // The pod that is to be made for this run.
    std::function<base::Json(const job::TaskId& task, const PodRun& run, const Owner& owner)> pod;
    // In their order, and never from inside a call.
    std::function<void(const PodEvent& event)> on_event;
    // The owner is there. Pods wait until more_is_ready() is called. Empty: nothing more is needed.
    std::function<void(const Owner& owner)> on_owner{};
    // For a book that reads logs, or fetches outputs. The caller tells it how that went.
    std::function<void(const ReadLog& action)> read_log{};
    std::function<void(const DropLog& action)> drop_log{};
    std::function<void(const FetchOutputs& action)> fetch_outputs{};
  };
  // The pods' master is a pod itself, and of the same owner.
  struct Guest {
    Owner owner;
    std::function<bool()> is_in_office;  // else nothing is made or deleted
  };

  // The references outlive it.
  JobPods(net::EventLoop& loop, base::Logger& logger, Client& client, const Manifests& manifests,
          PodBook::Options options, Callbacks callbacks, std::optional<Guest> guest = {});

  // Once: makes the owner and all but the pods, or finds those of an earlier client of the job.
  // Pods wait for it. Its error comes as gang::ClusterGone.
  void begin();
  // A guest's objects wait for this, and the pods for those: once, after begin().
  void make_own() { objects_.make_own(); }
  // Tells the book something, with the time; then does what it wants by now.
  template <typename... Parameters, typename... Args>
  void tell_book(void (PodBook::*what)(Parameters...), const Args&... args) {
    (book_.*what)(args..., loop_.now());
    act();
  }
  // See Callbacks::on_owner.
  void more_is_ready();
  // Nothing can be made any more, for this reason.
  void give_up(const std::string& sentence, job::Reason reason);
  // Tells on_event, after the events that the book has told.
  void tell(PodEvent event);
  // A line of a pod's log: the book does nothing then.
  void note_line(const job::TaskId& task, const std::string& uid,
                 std::optional<base::WallTime> time) {
    book_.on_line(task, uid, time, loop_.now());
  }
  [[nodiscard]] const PodBook& book() const { return book_; }

  // Deletes all that is there (a guest: all pods of tasks), waits until it is gone (with a limit)
  // and calls `done`: with an error that names what is left, if something is.
  void clear(std::function<void(base::Result<>)> done);
  // The objects that clear() waits for ("pods a-worker-0").
  [[nodiscard]] std::string left() const { return removal_ ? removal_->left() : ""; }

 private:
  void act();
  void carry_out(const CreatePod& action);
  void create_next();
  void create(const job::TaskId& task, const PodRun& run);
  void created(const job::TaskId& task, const base::Result<PodFacts>& made);
  void carry_out(const DeletePod& action);
  void carry_out(const LookForPod& action);
  void carry_out(const ListEvents& action);
  void carry_out(const ReadLog& action) { callbacks_.read_log(action); }
  void carry_out(const DropLog& action) { callbacks_.drop_log(action); }
  void carry_out(const FetchOutputs& action) { callbacks_.fetch_outputs(action); }
  void carry_out(const ListPods&) { watch(); }
  void carry_out(const LookAtOwner&) { objects_.look_at_owner(); }
  void carry_out(PodEvent& event) { tell(std::move(event)); }

  void watch();
  void flush();
  void release(const base::Json& pod);
  void on_released(const base::Json& pod, const ApiAnswer& answer);
  [[nodiscard]] PodFacts facts_of(const base::Json& pod) const;
  // Not somebody else's with our label and one of our names.
  [[nodiscard]] bool is_ours(const base::Json& pod) const;
  [[nodiscard]] std::string pods_path() const;
  [[nodiscard]] bool may_act() const { return !guest_ || guest_->is_in_office(); }
  JobObjects::Callbacks object_callbacks();

  net::EventLoop& loop_;
  const net::Posts posts_;
  base::Logger& logger_;
  Client& client_;
  const Manifests& manifests_;
  const Callbacks callbacks_;
  const std::optional<Guest> guest_;
  const std::map<std::string, job::TaskId> tasks_;  // by the names of their pods
  PodBook book_;
  JobObjects objects_;
  Errands errands_;
  std::optional<KueueLook> kueue_;                  // where it schedules the gang
  std::set<std::string> released_;                  // from Kueue, by their uids
  std::map<std::string, std::uint64_t> deletions_;  // under way, by the uids of their pods
  ActivityHandle watch_;
  std::optional<JobRemoval> removal_;
  net::Timer timer_;
  std::deque<job::TaskId> to_create_;
  int being_created_ = 0;
  int awaited_ = 1;  // before pods can be made: the objects, and what else they need
  bool has_begun_ = false;
  bool is_cleared_ = false;
  // Events that are to be told, lines too, in their order and never from inside a call.
  std::deque<PodEvent> outbox_;
};

}  // namespace gangrun::kubernetes::pods
