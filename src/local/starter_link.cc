#include "local/starter_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "process/proc_fs.h"
#include "process/starter.h"
#include "process/wait_for.h"

namespace gangrun::local {

namespace {

namespace starter = process::starter;

// How long the end of what was killed is waited for when the link goes.
constexpr std::chrono::seconds kKillWait(10);
constexpr int kStarterFd = 3;

}  // namespace

StarterLink::StarterLink(net::EventLoop& loop, base::UniqueFd socket, Callbacks callbacks)
    : loop_(loop), callbacks_(std::move(callbacks)), socket_(std::in_place, std::move(socket)) {
  readable_ = loop_.watch_readable(socket_->fd(), [this] { hear(); });
}

base::Result<std::unique_ptr<StarterLink>> StarterLink::start(net::EventLoop& loop,
                                                              const Start& start,
                                                              Callbacks callbacks) {
  GANGRUN_ASSIGN(auto ends, process::PacketSocket::pair());
  process::SpawnOptions options;
  options.argv = {start.agent_program, "starter", std::to_string(kStarterFd), start.path,
                  std::string(process::kRoomForCommandLine, ' ')};
  options.environment = process::inherited_environment();
  options.standard_error = start.log_fd;
  options.inherited = {{ends.second.get(), kStarterFd}};
  options.new_group = process::NewGroup::kSession;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  auto link = std::make_unique<StarterLink>(loop, std::move(ends.first), std::move(callbacks));
  link->path_ = start.path;
  link->guardian_ = std::move(child);
  link->end_ =
      loop.watch_readable(link->guardian_->end_fd(), [raw = link.get()] { raw->on_end(); });
  return link;
}

base::Result<std::unique_ptr<StarterLink>> StarterLink::find(net::EventLoop& loop,
                                                             const std::string& path,
                                                             Callbacks callbacks) {
  if (path.empty()) return base::unavailable("there is no starter");
  auto socket = process::PacketSocket::connect(path);
  if (!socket.ok()) return base::unavailable(socket.error().message);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return base::unavailable(base::from_errno(errno, path).message);
  }
  const auto stat = process::read_stat(peer.pid);
  if (!stat) return base::unavailable("the starter has ended");
  GANGRUN_ASSIGN(auto found, process::ProcessHandle::open(peer.pid, stat->start_ticks));
  auto link = std::make_unique<StarterLink>(loop, *std::move(socket), std::move(callbacks));
  link->path_ = path;
  link->starter_ = std::move(found);
  link->end_ = loop.watch_readable(link->starter_.end_fd(), [raw = link.get()] { raw->on_end(); });
  return link;
}

StarterLink::~StarterLink() {
  end_.reset();
  // It is another's to end.
  if (is_replaced_) return;
  kill_starter();
  const base::Instant deadline = loop_.now() + kKillWait;
  const int end_fd = guardian_ ? guardian_->end_fd() : starter_.end_fd();
  // The guardian may have been about to fork.
  while (
      !process::wait_readable(end_fd, std::min(deadline, loop_.now() + std::chrono::seconds(1))) &&
      loop_.now() < deadline) {
    kill_starter();
  }
  if (guardian_) (void)guardian_->reap();
  // A starter that was killed has left it.
  if (!path_.empty()) (void)::unlink(path_.c_str());
}

// Not its guardian, which waits until everything in the namespace has ended.
void StarterLink::kill_starter() {
  if (starter_.valid()) return (void)starter_.signal(SIGKILL);
  const auto starters = process::children_of(guardian_->pid());
  for (const pid_t pid : starters) (void)::kill(pid, SIGKILL);
  if (starters.empty()) (void)guardian_->signal(SIGKILL);
}

void StarterLink::send(const starter::Order& order, std::vector<base::UniqueFd> fds) {
  if (!socket_) return;
  go_on(socket_->send({starter::to_text(order), std::move(fds)}));
}

void StarterLink::flush() { go_on(socket_->flush()); }

// A starter that cannot be told what to do is of no use: its end is told, and that of its agents.
void StarterLink::go_on(const base::Result<>& sent) {
  if (!sent.ok()) {
    killed_because_ = base::format("took no more orders: {}", sent.error().message);
    kill_starter();
    return close();
  }
  using Waiting = process::PacketSocket::Waiting;
  const Waiting waiting = socket_->waiting();
  if (waiting != Waiting::kUntilWritable) writable_.reset();
  if (waiting == Waiting::kUntilWritable && !writable_.active()) {
    writable_ = loop_.watch_writable(socket_->fd(), [this] { flush(); });
  }
  if (waiting == Waiting::kForAMoment)
    again_ = loop_.after(process::kTryAgain, [this] { flush(); });
}

base::Result<> StarterLink::start_agent(const std::string& key,
                                        const std::vector<std::string>& arguments,
                                        const std::vector<process::InheritedFd>& fds) {
  std::vector<base::UniqueFd> copies;
  std::vector<int> numbers;
  for (const auto& [fd, number] : fds) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!copies.back().valid()) return base::from_errno(errno, "cannot pass a descriptor on");
    numbers.push_back(number);
  }
  keys_.insert(key);
  send(starter::StartOrder{key, arguments, std::move(numbers)}, std::move(copies));
  return {};
}

void StarterLink::watch_agent(const std::string& key) {
  keys_.insert(key);
  send(starter::WatchOrder{key});
}

void StarterLink::ask_to_end(const std::string& key) { send(starter::EndOrder{key}); }

void StarterLink::kill(const std::string& key) { send(starter::KillOrder{key}); }

void StarterLink::give_up(const std::string& key, base::Duration silence) {
  send(starter::GiveUpOrder{key});
  silence_ = loop_.after(silence, [this, key] {
    if (keys_.contains(key)) kill_starter();
  });
}

void StarterLink::hear() {
  while (socket_) {
    auto packet = socket_->receive();
    // Its end tells the rest: what is in its namespace may still be dying.
    if (!packet.ok()) return close();
    if (!*packet) return;
    on(**packet);
  }
}

void StarterLink::close() {
  readable_.reset();
  writable_.reset();
  again_.reset();
  socket_.reset();
}

void StarterLink::on(const process::Packet& packet) {
  const auto report = starter::report_from(packet.text);
  if (!report.ok()) return close();
  std::visit(base::Overloaded{
                 [&](const starter::StartReport& started) {
                   callbacks_.on_started(started.key, packet.pid);
                 },
                 [&](const starter::EndReport& ended) { on(ended); },
                 [&](const starter::ReplacedReport& /*replaced*/) {
                   is_replaced_ = true;
                   close();
                   end_with("another master or keeper has the job");
                 },
                 [&](const starter::UnknownReport& unknown) {
                   tell_end(unknown.key, std::nullopt, "it ended before a new master came");
                 },
             },
             *report);
}

void StarterLink::on(const starter::EndReport& ended) {
  if (!ended.status) return tell_end(ended.key, std::nullopt, ended.error);
  tell_end(ended.key, process::exit_from_wait(*ended.status),
           ended.survivors > 0
               ? base::format("{} of its processes could not be killed", ended.survivors)
               : std::string());
}

void StarterLink::tell_end(const std::string& key, const std::optional<process::Exit>& exit,
                           const std::string& words) {
  if (keys_.erase(key) > 0) callbacks_.on_ended(key, exit, words);
}

void StarterLink::on_end() {
  // Its earlier words come first.
  if (socket_) hear();
  close();
  std::string words = "the first process of its PID namespace has ended";
  if (guardian_) {
    const auto exit = guardian_->reap();
    if (exit.ok() && !*exit) return;
    if (exit.ok())
      words = base::format("the first process of its PID namespace {}", (*exit)->to_words());
  }
  if (!killed_because_.empty()) {
    words = base::format("the first process of its PID namespace {}", killed_because_);
  }
  end_with(words);
}

void StarterLink::end_with(const std::string& words) {
  end_.reset();
  for (const std::string& key : std::exchange(keys_, {})) {
    callbacks_.on_ended(key, std::nullopt, words);
  }
  callbacks_.on_over();
}

}  // namespace gangrun::local
