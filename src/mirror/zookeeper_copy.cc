#include "mirror/zookeeper_copy.h"

#include <chrono>
#include <utility>

#include "base/format.h"

namespace gangrun::mirror {

namespace {

// In a roll call of thousands, the reports of so short a time are written together.
constexpr std::chrono::milliseconds kTogether(20);

zookeeper::Session::Options mirror_session(net::EventLoop& loop, const job::JobSpec& job,
                                           const ZooKeeperCopyOptions& options) {
  zookeeper::Session::Options session = session_options(loop, *job.zookeeper, options.access);
  session.credentials = zookeeper_credentials(options.secret);
  session.administrators = options.administrators;
  return session;
}

}  // namespace

base::Result<ZooKeeperPlace> zookeeper_place_of(const job::JobSpec& job,
                                                const ZooKeeperCopyOptions& options) {
  const job::ZooKeeper& zookeeper = *job.zookeeper;
  GANGRUN_ASSIGN(std::string user,
                 registry_user(options.user).context("ZooKeeper does not show the job's registry"));
  return ZooKeeperPlace{
      .root = zookeeper.root.empty() ? std::string(kDefaultZooKeeperRoot) : zookeeper.root,
      .user = std::move(user),
      .job_name = job.name,
      .job_id = options.job_id,
      .is_public = zookeeper.readable_by_all,
      .has_login = zookeeper.login != job::ZooKeeperLogin::kNone};
}

std::vector<ZooKeeperTask> tasks_that_have_reported(const gang::Gang& gang,
                                                    const PlaceName& place_name) {
  std::vector<ZooKeeperTask> tasks;
  for (const gang::Task& task : gang.tasks()) {
    const bool has_agent = task.phase != gang::Phase::kAsked &&
                           task.phase != gang::Phase::kAllocated &&
                           task.phase != gang::Phase::kGone;
    if (!has_agent || task.address.port == 0) continue;
    tasks.push_back({task.id, task.address, place_name(task.id)});
  }
  return tasks;
}

job::ClusterSpec without_observers(const job::ClusterSpec& spec, const job::JobSpec& job) {
  job::ClusterSpec shown = spec;
  std::erase_if(shown.tasks, [&job](const auto& group) {
    const job::TaskSpec* task = job.find(group.first);
    return task != nullptr && task->policy == job::Policy::kObserver;
  });
  return shown;
}

std::unique_ptr<ZooKeeperCopy> ZooKeeperCopy::begin(net::EventLoop& loop, base::Logger& logger,
                                                    const job::JobSpec& job,
                                                    const ZooKeeperCopyOptions& options,
                                                    const gang::Gang& gang, PlaceName place_name,
                                                    const Warn& warn) {
  if (!job.zookeeper) return nullptr;
  auto place = zookeeper_place_of(job, options);
  if (!place.ok()) {
    logger.warning("{}", place.error().message);
    warn(place.error().message);
    return nullptr;
  }
  auto copy = std::make_unique<ZooKeeperCopy>(loop, logger, job, options, gang,
                                              std::move(place_name), *std::move(place), warn);
  copy->changed();
  return copy;
}

ZooKeeperCopy::ZooKeeperCopy(net::EventLoop& loop, base::Logger& logger, const job::JobSpec& job,
                             const ZooKeeperCopyOptions& options, const gang::Gang& gang,
                             PlaceName place_name, ZooKeeperPlace place, Warn warn)
    : loop_(loop),
      logger_(logger),
      job_(job),
      gang_(gang),
      place_name_(std::move(place_name)),
      place_(std::move(place)),
      warn_(std::move(warn)),
      mirror_(loop, logger, {.session = mirror_session(loop, job, options)},
              [this](const std::string& reason) { on_trouble(reason); }) {}

void ZooKeeperCopy::changed() {
  if (has_ended_ || soon_.pending()) return;
  soon_ = loop_.after(kTogether, [this] {
    mirror_.want(zookeeper_tree(place_, without_observers(gang_.cluster_spec(), job_),
                                tasks_that_have_reported(gang_, place_name_)));
  });
}

void ZooKeeperCopy::end() {
  if (std::exchange(has_ended_, true)) return;
  soon_.reset();
  const std::string behind = mirror_.behind();
  if (!behind.empty()) logger_.info("the job ends while ZooKeeper is behind: {}", behind);
  mirror_.want({});
}

void ZooKeeperCopy::on_trouble(const std::string& reason) {
  if (reason.empty()) {
    logger_.info("ZooKeeper shows the registry again");
    return trouble_.clear();
  }
  trouble_ = base::format(
      "ZooKeeper ({}) does not show the job's current registry: {}; the job continues without it",
      base::join(job_.zookeeper->hosts, ","), reason);
  logger_.warning("{}", trouble_);
  warn_(trouble_);
}

}  // namespace gangrun::mirror
