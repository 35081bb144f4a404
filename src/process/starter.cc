#include "process/starter.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "base/files.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "process/guardian.h"
#include "process/kill_processes.h"
#include "process/packet_socket.h"
#include "process/pid_namespace.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "process/starter_messages.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

// How long what an ended agent left is killed before its survivors are told.
constexpr base::seconds kMaxKilling(60);
// The same where the cluster does not want to wait.
constexpr base::seconds kGivingUp(1);
// Between two looks at what was killed.
constexpr base::milliseconds kLookAgain(10);
// A connection that cannot be taken in yet, as all descriptors are in use, is so often tried again.
constexpr base::milliseconds kAcceptPause(100);
constexpr int kMaxConnections = 4;
// How soon the kernel's OOM killer chooses this process.
constexpr const char* kScore = "/proc/self/oom_score_adj";
// The last choice of the kernel's OOM killer.
constexpr std::string_view kLastChoice = "-1000";

struct Ended {
  std::string key;
  int status = 0;
  base::Instant give_up_at;
};

// The memory in which the kernel keeps the command line, from the second argument on.
struct CommandLine {
  char* start = nullptr;
  std::size_t size = 0;
};

// The arguments of a program stand one behind the other, as the kernel has put them there.
CommandLine own_command_line() {
  const auto text = base::read_file("/proc/self/cmdline", std::size_t{64} << 10U);
  if (!text.ok() || program_invocation_name == nullptr) return {};
  const std::size_t first = text->find('\0') + 1;
  return {program_invocation_name + first, text->size() - first};
}

// So that people and gangrun see an agent of a task as one.
void show_arguments(const CommandLine& line, const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + '\0';
  if (line.size == 0 || text.size() > line.size) return;
  std::memset(line.start, 0, line.size);
  std::memcpy(line.start, text.data(), text.size());
}

// In an agent: each descriptor gets its number, and nothing above standard error stays open but
// these and `another`, whose number is above theirs.
bool keep_only(const std::vector<base::UniqueFd>& fds, const std::vector<int>& numbers,
               int another) {
  std::vector<std::pair<int, int>> moves;
  const int highest = *std::max_element(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < fds.size(); ++i) {
    // None takes the place of one that is still to move.
    const int above = ::fcntl(fds[i].get(), F_DUPFD_CLOEXEC, highest + 1);
    if (above < 0) return false;
    moves.emplace_back(above, numbers[i]);
  }
  std::set<int> kept = {another};
  for (const auto& [from, to] : moves) {
    if (::dup3(from, to, O_CLOEXEC) < 0) return false;
    kept.insert(to);
  }
  int next = STDERR_FILENO + 1;
  for (const int fd : kept) {
    close_descriptors(next, fd - 1);
    next = fd + 1;
  }
  close_descriptors(next, INT_MAX);
  return true;
}

class Starter {
 public:
  Starter(const StarterOptions& options, const AgentMain& agent, base::UniqueFd outer_proc,
          sigset_t mask_of_agents)
      : options_(options),
        agent_(agent),
        outer_proc_(std::move(outer_proc)),
        mask_of_agents_(mask_of_agents),
        line_(own_command_line()) {}

  base::Result<> prepare();
  int run();

 private:
  base::Result<> listen();
  void wait();
  [[nodiscard]] int wait_limit() const;
  void accept();
  void hear();
  void on(const Packet& packet);
  void on(const starter::WatchOrder& order);
  void on(const starter::EndOrder& order);
  void on(const starter::KillOrder& order);
  void on(const starter::GiveUpOrder& order);
  void start(const starter::StartOrder& order, const Packet& packet);
  [[noreturn]] void become_agent(const std::vector<std::string>& arguments, const Packet& packet,
                                 const std::vector<int>& numbers);
  void on_signals();
  void reap();
  [[nodiscard]] std::vector<pid_t> orphans() const;
  void sweep();
  // None, where the agent does not run.
  [[nodiscard]] std::optional<pid_t> pid_of(const std::string& key) const;
  void signal(const std::string& key, int number) const;
  void tell(const starter::Report& report, pid_t about = 0);
  [[nodiscard]] bool is_over() const;

  const StarterOptions& options_;
  const AgentMain& agent_;
  const base::UniqueFd outer_proc_;
  const sigset_t mask_of_agents_;
  const CommandLine line_;
  std::string score_of_agents_;
  base::UniqueFd signals_;
  base::UniqueFd listener_;
  bool cannot_accept_ = false;  // for kAcceptPause
  std::optional<PacketSocket> cluster_;
  std::map<pid_t, std::string> agents_;
  std::vector<Ended> ended_;  // of whose tasks something may be left
};

base::Result<> Starter::prepare() {
  ::prctl(PR_SET_NAME, kStarterName, 0L, 0L, 0L);
  // Only root may; others are chosen as before.
  const auto score = base::read_file(kScore, 64);
  if (score.ok() && write_to(kScore, kLastChoice)) score_of_agents_ = *score;
  const sigset_t awaited = awaited_signals();
  signals_.reset(::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return base::from_errno(errno, "signalfd");
  cluster_.emplace(base::UniqueFd(options_.socket));
  return listen();
}

base::Result<> Starter::listen() {
  if (options_.path.empty()) return {};
  GANGRUN_ASSIGN(listener_, PacketSocket::listen(options_.path, kMaxConnections));
  return {};
}

bool Starter::is_over() const {
  if (cluster_) return false;
  return !listener_.valid() || (agents_.empty() && ended_.empty());
}

int Starter::run() {
  while (true) {
    if (is_over()) {
      // A master that has come meanwhile is served; one that comes later finds nobody.
      if (!listener_.valid()) return 0;
      accept();
      if (!cluster_) {
        (void)::unlink(options_.path.c_str());
        return 0;
      }
    }
    wait();
    on_signals();
    if (listener_.valid()) accept();
    hear();
    sweep();
  }
}

// The one wait without a time limit while nothing is to be killed or tried again.
void Starter::wait() {
  std::vector<pollfd> waited{{signals_.get(), POLLIN, 0}};
  if (listener_.valid() && !cannot_accept_) waited.push_back({listener_.get(), POLLIN, 0});
  if (cluster_) {
    const bool is_full = cluster_->waiting() == PacketSocket::Waiting::kUntilWritable;
    waited.push_back({cluster_->fd(), static_cast<short>(is_full ? POLLIN | POLLOUT : POLLIN), 0});
  }
  (void)::poll(waited.data(), waited.size(), wait_limit());
}

int Starter::wait_limit() const {
  base::milliseconds limit = base::milliseconds::max();
  if (cannot_accept_) limit = kAcceptPause;
  if (!ended_.empty()) limit = std::min(limit, kLookAgain);
  if (cluster_ && cluster_->waiting() == PacketSocket::Waiting::kForAMoment) {
    limit = std::min(limit, base::milliseconds(kTryAgain));
  }
  return limit == base::milliseconds::max() ? -1 : static_cast<int>(limit.count());
}

// The newest cluster has the job: an older one is dead, or about to be.
void Starter::accept() {
  while (true) {
    base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    cannot_accept_ = !fd.valid() && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
    if (!fd.valid()) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        peer.uid == ::geteuid()) {
      tell(starter::ReplacedReport{});
      cluster_.emplace(std::move(fd));
    }
  }
}

void Starter::hear() {
  while (cluster_) {
    if (!cluster_->flush().ok()) return cluster_.reset();
    auto packet = cluster_->receive();
    if (!packet.ok()) return cluster_.reset();
    if (!*packet) return;
    on(**packet);
  }
}

void Starter::on(const Packet& packet) {
  const auto order = starter::order_from(packet.text);
  // A peer that speaks something else is no cluster of this version.
  if (!order.ok()) return cluster_.reset();
  std::visit(base::Overloaded{
                 [&](const starter::StartOrder& agent) { start(agent, packet); },
                 [&](const auto& about) { on(about); },
             },
             *order);
}

void Starter::on(const starter::WatchOrder& order) {
  if (const auto pid = pid_of(order.key)) return tell(starter::StartReport{order.key}, *pid);
  // An end that is told already is not told again.
  const bool is_ending = std::ranges::find(ended_, order.key, &Ended::key) != ended_.end();
  if (!is_ending) tell(starter::UnknownReport{order.key});
}

void Starter::on(const starter::EndOrder& order) { signal(order.key, SIGTERM); }

void Starter::on(const starter::KillOrder& order) { signal(order.key, SIGKILL); }

void Starter::on(const starter::GiveUpOrder& order) {
  signal(order.key, SIGKILL);
  const base::Instant soon = std::chrono::steady_clock::now() + kGivingUp;
  for (Ended& each : ended_) {
    if (each.key == order.key) each.give_up_at = std::min(each.give_up_at, soon);
  }
}

std::optional<pid_t> Starter::pid_of(const std::string& key) const {
  const auto found =
      std::ranges::find_if(agents_, [&](const auto& agent) { return agent.second == key; });
  return found != agents_.end() ? std::optional(found->first) : std::nullopt;
}

void Starter::signal(const std::string& key, int number) const {
  if (const auto pid = pid_of(key)) (void)::kill(*pid, number);
}

void Starter::tell(const starter::Report& report, pid_t about) {
  if (!cluster_) return;
  if (!cluster_->send({starter::to_text(report), {}, about}).ok()) cluster_.reset();
}

void Starter::start(const starter::StartOrder& order, const Packet& packet) {
  const std::vector<int>& numbers = order.fds;
  const bool fits = !numbers.empty() && numbers.size() == packet.fds.size() &&
                    std::ranges::all_of(numbers, [](int number) {
                      return number > STDERR_FILENO && number <= kMaxInheritedFd;
                    });
  if (!fits) return cluster_.reset();
  const pid_t pid = ::fork();
  if (pid == 0) become_agent(order.arguments, packet, numbers);
  if (pid < 0) {
    const auto error = base::from_errno(errno, "cannot start an agent");
    return tell(starter::EndReport{order.key, std::nullopt, 0, error.message});
  }
  agents_[pid] = order.key;
  tell(starter::StartReport{order.key}, pid);
}

void Starter::become_agent(const std::vector<std::string>& arguments, const Packet& packet,
                           const std::vector<int>& numbers) {
  constexpr int kCannotStart = 127;
  ::setsid();
  ::prctl(PR_SET_NAME, "gangrun-agent", 0L, 0L, 0L);
  show_arguments(line_, arguments);
  if (!score_of_agents_.empty()) (void)write_to(kScore, score_of_agents_);
  const int above = *std::max_element(numbers.begin(), numbers.end()) + 1;
  base::UniqueFd outer_proc(::fcntl(outer_proc_.get(), F_DUPFD_CLOEXEC, above));
  if (!keep_only(packet.fds, numbers, outer_proc.get())) ::_exit(kCannotStart);
  ::pthread_sigmask(SIG_SETMASK, &mask_of_agents_, nullptr);
  const int status = agent_(arguments, std::move(outer_proc));
  std::exit(status);  // NOLINT(concurrency-mt-unsafe): the threads of an agent have ended
}

void Starter::on_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == ssize_t{sizeof info}) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;
    for (const auto& [pid, key] : agents_) (void)::kill(pid, number);
  }
  reap();
}

// Agents, and orphans of those that have ended.
void Starter::reap() {
  int status = 0;
  while (true) {
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    const auto found = agents_.find(pid);
    if (found == agents_.end()) continue;
    ended_.push_back(
        {std::move(found->second), status, std::chrono::steady_clock::now() + kMaxKilling});
    agents_.erase(found);
  }
}

// Orphans of a living agent are its own children: agents are subreapers.
std::vector<pid_t> Starter::orphans() const {
  std::vector<pid_t> found;
  for (const pid_t child : children_of(::getpid())) {
    if (agents_.contains(child)) continue;
    found.push_back(child);
    const auto below = descendants_of(child);
    found.insert(found.end(), below.begin(), below.end());
  }
  return living(found);
}

// Kills what the ended agents left, and tells of those whose tasks are gone.
void Starter::sweep() {
  if (ended_.empty()) return;
  const std::vector<pid_t> left = orphans();
  const Victims victims{.list = {}, .kill_whole = {}, .is_victim = [this](pid_t pid) {
                          const pid_t branch = branch_of(pid, ::getpid());
                          return branch != 0 && !agents_.contains(branch);
                        }};
  (void)kill_once(victims, left);
  reap();
  const base::Instant now = std::chrono::steady_clock::now();
  std::vector<Ended> later;
  for (Ended& each : ended_) {
    if (!left.empty() && now < each.give_up_at) {
      later.push_back(std::move(each));
      continue;
    }
    tell(starter::EndReport{each.key, each.status, left.size(), {}});
  }
  ended_ = std::move(later);
}

// The work of the old process, which stays outside of the namespace.
[[noreturn]] void guard(pid_t starter, base::UniqueFd alive) {
  ::prctl(PR_SET_NAME, "gangrun-guard", 0L, 0L, 0L);
  GuardianState state;
  state.level = Level::kPidNamespace;
  state.agent = starter;
  state.alive = std::move(alive);
  run_guardian(std::move(state));
}

}  // namespace

base::Result<> run_starter(const StarterOptions& options, const AgentMain& agent) {
  ::signal(SIGCHLD, SIG_DFL);
  const sigset_t blocked = awaited_signals();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  GANGRUN_ASSIGN(Pipe guardian, make_pipe());
  base::UniqueFd outer_proc = pid_namespace::open_outer_proc();
  const auto unshared = pid_namespace::unshare_children(pid_namespace::own_id_maps());
  if (unshared.happened()) return base::unavailable(pid_namespace::words(unshared));
  const pid_t starter = ::fork();
  if (starter < 0) return base::from_errno(errno, "fork");
  if (starter > 0) {
    guardian.read.reset();
    guard(starter, std::move(guardian.write));
  }
  guardian.write.reset();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L) != 0) return base::from_errno(errno, "prctl");
  if (wait_readable(guardian.read.get(), std::chrono::steady_clock::now())) {
    return base::Error{base::Code::kCancelled, "the guardian has ended already"};
  }
  const auto entered = pid_namespace::become_init();
  if (entered.happened()) return base::unavailable(pid_namespace::words(entered));
  pid_namespace::spread_numbers(outer_proc);
  Starter run(options, agent, std::move(outer_proc), before);
  GANGRUN_TRY(run.prepare());
  ::_exit(run.run());
}

}  // namespace gangrun::process
