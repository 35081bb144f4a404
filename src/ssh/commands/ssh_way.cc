#include "ssh/commands/ssh_way.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/format.h"
#include "net/hosts.h"
#include "process/spawn.h"
#include "ssh/ssh_failure.h"

namespace gangrun::ssh::commands {

namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr std::size_t kMaxSaid = 4096;

void make_blocking(int fd) { (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK); }

}  // namespace

SshWay::SshWay(net::EventLoop& loop, std::vector<std::string> hosts, std::string ssh_config,
               std::uint16_t port, std::function<void(const base::Error&)> on_broken)
    : loop_(loop),
      hosts_(std::move(hosts)),
      call_({.config = std::move(ssh_config)}),
      on_broken_(on_broken),
      entrance_(loop, [this](base::UniqueFd connection) { carry(std::move(connection)); }),
      way_(loop, port, std::move(on_broken)) {}

base::Result<std::string> SshWay::take(const job::TaskStatus* task,
                                       const base::Result<client::TaskAgent>& agent) {
  if (!agent.ok()) return way_.take(task, agent);
  GANGRUN_ASSIGN(const client::TaskAgent near, through_ssh(*agent));
  return way_.take(task, near);
}

base::Result<net::Endpoint> SshWay::to_agent(const client::TaskAgent& agent) {
  GANGRUN_ASSIGN(const client::TaskAgent near, through_ssh(agent));
  return way_.to_agent(near);
}

base::Result<client::TaskAgent> SshWay::through_ssh(const client::TaskAgent& agent) {
  if (entrance_port_ == 0) {
    GANGRUN_ASSIGN(entrance_port_, entrance_.listen_at_loopback(0));
  }
  agent_host_ = agent.host;
  agent_port_ = agent.port;
  client::TaskAgent near = agent;
  near.host = kLoopback;
  near.port = entrance_port_;
  return near;
}

void SshWay::carry(base::UniqueFd connection) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return on_broken_(base::from_errno(errno, "pipe2"));
  }
  base::UniqueFd errors(ends[0]);
  const base::UniqueFd said(ends[1]);
  make_blocking(connection.get());
  process::SpawnOptions options;
  options.argv =
      ssh::ssh_command_to(hosts_[host_], call_, net::host_port(agent_host_, agent_port_));
  options.environment = process::inherited_environment();
  options.standard_input = connection.get();
  options.standard_output = connection.get();
  options.standard_error = said.get();
  options.parent_death_signal = SIGTERM;
  auto ssh = process::spawn(options);
  if (!ssh.ok()) return on_broken_(ssh.error());
  const std::uint64_t id = next_++;
  Carrier& carrier =
      carriers_.emplace(id, Carrier{std::move(*ssh), std::move(errors), std::move(connection), {}})
          .first->second;
  carrier.ended = loop_.watch_readable(carrier.ssh.end_fd(), [this, id] { on_ended(id); });
}

void SshWay::on_ended(std::uint64_t id) {
  const auto found = carriers_.find(id);
  const auto exit = found->second.ssh.reap();
  if (exit.ok() && !*exit) return;
  std::string said(kMaxSaid, '\0');
  const ssize_t got = ::read(found->second.errors.get(), said.data(), said.size());
  said.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  base::UniqueFd connection = std::move(found->second.connection);
  carriers_.erase(found);
  const std::string unknown = ssh::unknown_option(said);
  // An older ssh, which has not gone anywhere yet.
  if (ssh::leave_out(unknown, call_)) return carry(std::move(connection));
  if (exit.ok() && (*exit)->succeeded()) return;
  const std::string how = exit.ok() ? (*exit)->to_words() : exit.error().message;
  const std::string& host = hosts_[host_];
  const std::string sentence = ssh::failure_sentence(host, said, base::format("ssh {}", how));
  host_ = (host_ + 1) % hosts_.size();
  on_broken_(base::unavailable(sentence));
}

}  // namespace gangrun::ssh::commands
