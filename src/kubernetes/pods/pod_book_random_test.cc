#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_book_driver.h"

// A book with an API server that does whatever one may do, in any order.
namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kSeeds = 400;
constexpr int kSteps = 300;

class World {
 public:
  explicit World(unsigned seed) : random_(seed), book_(options()) {
    book_.on_ready(now_);
    book_.on_list({}, now_);
  }

  void step() {
    switch (dice(16)) {
      case 0:
      case 1: return answer_create(false);
      case 2: return answer_delete(false);
      case 3: return answer_look();
      case 4:
      case 5: return deliver();
      case 6: return list();
      case 7:
      case 8: return happen();
      case 9: return end_log(false);
      case 10: return fetch(false);
      case 11:
      case 12: return ask();
      case 13: return answer_owner(dice(20) == 0);
      case 14: return look_for_losses();
      default: return pass(milliseconds(dice(20'000)));
    }
  }

  // Everybody is stopped, and nothing goes wrong any more.
  void end() {
    for (const auto& [task, attempt] : slots_) book_.stop(task, attempt, seconds(5), now_);
    for (int i = 0; i < 200; ++i) {
      act();
      answer_create(true);
      answer_delete(true);
      answer_look();
      answer_owner(false);
      if (is_list_awaited_) list();
      for (const job::TaskId& task : tasks_) finish_deletion(task);
      while (!events_.empty()) deliver();
      end_log(true);
      fetch(true);
      pass(seconds(1));
    }
    EXPECT_TRUE(slots_.empty());
    EXPECT_TRUE(pods_.empty());
    EXPECT_TRUE(runs_.empty());
    EXPECT_TRUE(creates_.empty());
    EXPECT_TRUE(deletes_.empty());
    EXPECT_FALSE(is_looking_);
    EXPECT_EQ(book_.waiting_for(now_), "");
  }

  void act() {
    for (const PodAction& action : book_.take_actions()) {
      std::visit([this](const auto& what) { take(what); }, action);
    }
  }

 private:
  int dice(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }

  PodBook::Options options() {
    PodBook::Options options = BookDriver::options();
    options.with_outputs = {kWorker1};
    options.random = [this] { return dice(100) / 100.0; };
    return options;
  }

  void take(const CreatePod& action) {
    EXPECT_FALSE(creates_.contains(action.task)) << "asked for twice";
    EXPECT_FALSE(is_owner_deleted_) << "of a job that is deleted";
    EXPECT_TRUE(runs_.contains(action.task)) << "of no run";
    creates_[action.task] = action.attempt;
  }
  void take(const DeletePod& action) {
    deletes_.push_back(action);
    if (action.grace.count() == 0) forced_.insert(action.uid);
  }
  void take(const LookForPod& action) { looks_.insert(action.task); }
  void take(const LookAtOwner&) {
    EXPECT_FALSE(is_owner_asked_for_) << "asked for twice";
    is_owner_asked_for_ = true;
  }
  void take(const ListPods&) { is_list_awaited_ = true; }
  void take(const ListEvents&) {}
  void take(const ReadLog& action) { logs_[action.task] = action.uid; }
  void take(const DropLog& action) { logs_.erase(action.task); }
  void take(const FetchOutputs& action) { fetches_[action.task] = action.uid; }
  void take(const job::AgentEnded& ended) {
    EXPECT_EQ(slots_.count(ended.task), 1U) << "ended twice";
    // A pod that is deleted by force is not waited for.
    const auto pod = pods_.find(ended.task);
    EXPECT_TRUE(pod == pods_.end() || forced_.contains(pod->second.uid) || is_owner_deleted_)
        << "its pod is there";
    slots_.erase(ended.task);
    runs_.erase(ended.task);
  }
  void take(const PodEvent& event) {
    if (std::holds_alternative<cluster::LossesTold>(event)) {
      EXPECT_TRUE(std::exchange(is_looking_, false)) << "told unasked, or twice";
    }
    if (const auto* ended = std::get_if<job::AgentEnded>(&event)) take(*ended);
    if (const auto* ended = std::get_if<job::Exited>(&event)) {
      EXPECT_EQ(runs_.count(ended->task), 1U) << "its run has ended before";
      EXPECT_LE(ended->ended_at, now_);
      runs_.erase(ended->task);
    }
  }

  void tell(const job::TaskId& task, bool is_deleted = false) {
    events_.emplace_back(pods_.at(task), is_deleted);
    if (is_deleted) pods_.erase(task);
  }

  void make(const job::TaskId& task, int attempt) {
    PodFacts facts;
    facts.name = book_name(task);
    facts.uid = base::format("u{}", ++uids_);
    facts.job = "j";
    facts.attempt = attempt;
    facts.phase = "Pending";
    pods_[task] = facts;
    tell(task);
  }
  static std::string book_name(const job::TaskId& task) {
    return BookDriver::options().names.at(task);
  }

  void answer_create(bool calm) {
    if (creates_.empty()) return;
    const auto [task, attempt] = *creates_.begin();
    creates_.erase(creates_.begin());
    const int what = calm ? 9 : dice(10);
    const bool is_taken = pods_.contains(task);
    if (!book_.wanted(task) && dice(2) == 0) {
      book_.on_created(task, base::Error{base::Code::kCancelled, "not wanted"}, now_);
      return act();
    }
    if (what != 0 && what != 2 && !is_taken) make(task, attempt);
    if (what <= 1) {
      book_.on_created(task, base::unavailable("reset"), now_);
    } else if (what == 2) {
      book_.on_created(task, base::Error{base::Code::kResourceExhausted, "quota"}, now_);
    } else if (is_taken) {
      book_.on_created(task, base::Error{base::Code::kAlreadyExists, "exists"}, now_);
    } else {
      book_.on_created(task, pods_.at(task), now_);
    }
    act();
  }

  void answer_delete(bool calm) {
    if (deletes_.empty()) return;
    const DeletePod action = deletes_.front();
    deletes_.pop_front();
    if (!calm && dice(5) == 0) {
      book_.on_deleted(action.task, action.uid, base::unavailable("reset"), now_);
    } else if (!pods_.contains(action.task) || pods_.at(action.task).uid != action.uid) {
      book_.on_deleted(action.task, action.uid, base::not_found("none"), now_);
    } else {
      PodFacts& pod = pods_.at(action.task);
      pod.is_deleting = true;
      tell(action.task, action.grace.count() == 0 || !pod.is_scheduled());
      book_.on_deleted(action.task, action.uid, {}, now_);
    }
    act();
  }

  void answer_look() {
    if (looks_.empty()) return;
    const job::TaskId task = *looks_.begin();
    looks_.erase(looks_.begin());
    std::optional<PodFacts> found;
    if (pods_.contains(task)) found = pods_.at(task);
    book_.on_looked_for(task, found, now_);
    act();
  }

  // With the owner goes all that it owns.
  void answer_owner(bool deleted) {
    if (!std::exchange(is_owner_asked_for_, false)) return;
    if (deleted || is_owner_deleted_) {
      is_owner_deleted_ = true;
      for (auto& [task, pod] : pods_) pod.is_deleting = true;
      book_.on_owner_deleted("somebody deleted it", now_);
    } else {
      book_.on_owner_there(now_);
    }
    act();
  }

  void deliver() {
    if (events_.empty()) return;
    const auto [facts, is_deleted] = events_.front();
    events_.pop_front();
    book_.on_change(facts, is_deleted, now_);
    act();
  }

  void look_for_losses() {
    if (std::exchange(is_looking_, true)) return;
    book_.look_for_losses(now_);
    act();
  }

  void list() {
    is_list_awaited_ = false;
    events_.clear();
    std::vector<PodFacts> pods;
    for (const auto& [task, pod] : pods_) pods.push_back(pod);
    book_.on_list(pods, now_);
    act();
  }

  void happen() {
    const job::TaskId& task = tasks_[static_cast<std::size_t>(dice(3))];
    if (!pods_.contains(task)) return;
    PodFacts& pod = pods_.at(task);
    switch (dice(6)) {
      case 0: pod.node = "n1"; break;
      case 1:
      case 2:
        if (!pod.is_scheduled() || pod.is_over()) return;
        pod.task.state = ContainerFacts::State::kRunning;
        pod.task.has_run = true;
        break;
      case 3:
        if (!pod.task.has_run) return;
        pod.task.state = ContainerFacts::State::kTerminated;
        pod.task.exit_code = dice(2);
        break;
      case 4:
        if (!pod.is_scheduled()) return;
        pod.phase = "Failed";
        pod.reason = "Evicted";
        break;
      default:
        pod.is_deleting = true;
        if (dice(2) == 0) return tell(task, true);
    }
    tell(task);
  }

  void finish_deletion(const job::TaskId& task) {
    if (pods_.contains(task) && pods_.at(task).is_deleting) tell(task, true);
  }

  void end_log(bool calm) {
    if (logs_.empty()) return;
    const auto [task, uid] = *logs_.begin();
    logs_.erase(logs_.begin());
    const bool fails = !calm && dice(3) == 0;
    book_.on_log_ended(task, uid,
                       fails ? base::Result<>(base::unavailable("reset")) : base::Result<>(), now_);
    act();
  }

  void fetch(bool calm) {
    if (fetches_.empty() || (!calm && dice(3) == 0)) return;
    const auto [task, uid] = *fetches_.begin();
    fetches_.erase(fetches_.begin());
    book_.on_outputs(task, uid, {}, now_);
    act();
  }

  void ask() {
    const job::TaskId& task = tasks_[static_cast<std::size_t>(dice(3))];
    if (!slots_.contains(task)) {
      slots_[task] = ++attempt_;
      book_.start(task, attempt_, now_);
    } else if (!runs_.contains(task) && !stopped_.contains(slots_.at(task))) {
      runs_.insert(task);
      book_.run(task, {.attempt = ++attempt_, .generation = 1 + dice(2), .environment = {}}, now_);
    } else if (dice(3) == 0) {
      book_.end_run(task, seconds(dice(10)), now_);
    } else if (dice(3) == 0) {
      stopped_.insert(slots_.at(task));
      book_.stop(task, slots_.at(task), seconds(dice(10)), now_);
    }
    act();
  }

  void pass(base::Duration duration) {
    const base::Instant end = now_ + duration;
    int wakes = 0;
    for (auto next = book_.next_deadline(); next && *next <= end; next = book_.next_deadline()) {
      ASSERT_LT(++wakes, 1000) << "time does not go on";
      now_ = std::max(now_, *next);
      book_.on_time(now_);
      act();
    }
    now_ = end;
  }

  std::mt19937 random_;
  PodBook book_;
  base::Instant now_{minutes(1000)};
  const std::vector<job::TaskId> tasks_ = {kWorker0, kWorker1, kBoard};
  std::map<job::TaskId, int> slots_;
  std::set<int> stopped_;
  std::set<job::TaskId> runs_;
  int attempt_ = 0;
  int uids_ = 0;
  std::map<job::TaskId, PodFacts> pods_;
  std::deque<std::pair<PodFacts, bool>> events_;
  std::map<job::TaskId, int> creates_;
  std::deque<DeletePod> deletes_;
  std::set<std::string> forced_;
  std::set<job::TaskId> looks_;
  bool is_owner_asked_for_ = false;
  bool is_owner_deleted_ = false;
  bool is_list_awaited_ = false;
  bool is_looking_ = false;
  std::map<job::TaskId, std::string> logs_;
  std::map<job::TaskId, std::string> fetches_;
};

TEST(PodBookRandom, EveryRunEndsOnceAndNothingIsLeft) {
  for (unsigned seed = 0; seed < kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(seed);
    for (int i = 0; i < kSteps && !testing::Test::HasFailure(); ++i) world.step();
    world.end();
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
