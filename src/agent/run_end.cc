#include "agent/run_end.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <optional>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "frameworks/environment.h"
#include "process/address_in_use.h"

namespace gangrun::agent {

namespace {

constexpr std::size_t kMaxWordsBytes = 300;
// Each is a look at all sockets of the host.
constexpr std::size_t kMaxLooks = 16;

using Ports = std::vector<std::uint16_t>;

void add(Ports& all, const Ports& more) {
  for (const std::uint16_t port : more) {
    if (std::find(all.begin(), all.end(), port) == all.end()) all.push_back(port);
  }
}

// A program that gives up may call abort().
bool ended_by_itself(const job::ExitReport& report) {
  if (report.success) return false;
  return report.why.reason == job::Reason::kExitStatus ||
         (report.why.reason == job::Reason::kSignal && report.why.signal == SIGABRT);
}

// "port 5000 is in use by process 4711 (python) of user 1000", of the first that somebody has.
PortUser in_use(const Ports& ports, const ListenerOf& listener_of) {
  for (std::size_t i = 0; i < std::min(ports.size(), kMaxLooks); ++i) {
    PortUser user = listener_of(ports[i]);
    if (user.words.empty()) continue;
    user.words = base::format("port {} is in use by {}{}", ports[i], user.words,
                              user.is_of_job ? ", of this job" : "");
    return user;
  }
  return {};
}

// The last line that says so.
std::optional<std::string> complaint_in(const std::vector<std::string>& lines) {
  const auto found = std::find_if(lines.rbegin(), lines.rend(), process::says_address_in_use);
  if (found == lines.rend()) return std::nullopt;
  return *found;
}

// Nobody listens on what the program may have wanted. It may be the hold itself.
std::string hint(const RunPorts& ports) {
  return base::format(
      "if that was port {}, it was held for the task, and a program that binds it with neither "
      "SO_REUSEADDR nor SO_REUSEPORT needs `ports: {{hold: until-exec}}`",
      base::join(ports.held, ", "));
}

}  // namespace

PortUser port_user(const process::ListenerOwner& owner, const std::string& job_id) {
  const std::string variable = base::format("{}={}", frameworks::kJobIdVariable, job_id);
  const auto variables = base::split(owner.environment, '\0');
  const bool says_so = std::find(variables.begin(), variables.end(), variable) != variables.end();
  return {owner.words, owner.is_inside || says_so};
}

std::vector<std::uint16_t> ports_told(const Variables& of_job, const Variables& of_task,
                                      const std::vector<std::string>& command) {
  Ports told;
  for (const Variables* variables : {&of_task, &of_job}) {
    for (const auto& [name, value] : *variables) {
      if (base::in_small_letters(name).ends_with("port")) {
        add(told, process::named_ports("port " + value));
      }
    }
  }
  add(told, process::ports_in_command(command));
  return told;
}

PortEnd judge_ports(const job::ExitReport& report, base::Duration ran, const RunPorts& ports,
                    const ListenerOf& listener_of) {
  if (!ended_by_itself(report)) return {};
  if (ran <= kPortLossWindow) {
    const PortUser user = in_use(ports.held, listener_of);
    if (!user.words.empty() && !user.is_of_job) return {true, user.words};
  }
  const auto complaint = complaint_in(report.last_lines);
  if (!complaint) return {};
  const Ports named = process::named_ports(*complaint);
  Ports meant = named;
  if (named.empty()) {
    add(meant, process::ports_in_code(base::format("{}", base::join(report.last_lines, "\n"))));
    add(meant, ports.told);
    add(meant, ports.held);
  }
  std::string more = in_use(meant, listener_of).words;
  const bool may_be_held =
      named.empty() || std::any_of(named.begin(), named.end(), [&](std::uint16_t port) {
        return std::find(ports.held.begin(), ports.held.end(), port) != ports.held.end();
      });
  if (more.empty() && may_be_held && ports.hold == job::Hold::kUntilBind) more = hint(ports);
  if (more.empty()) return {};
  const std::string said = base::shorten(base::trim(*complaint), kMaxWordsBytes);
  return {false, base::format("{}; {}", said, more)};
}

PortsNext judge(job::ExitReport& report, const RunCircumstances& known) {
  if (report.success) return PortsNext::kHoldAgain;
  // With a notice, it has saved what it could and left.
  const bool is_preempted = known.has_notice && report.why.reason != job::Reason::kOutOfMemory;
  if (is_preempted) report.why.reason = job::Reason::kPreempted;
  if (!known.agent_ends_for.empty()) {
    if (!is_preempted) report.why = {.reason = job::Reason::kAgentEnded};
    report.why.detail = known.agent_ends_for;
    return PortsNext::kNothing;
  }
  if (is_preempted) return PortsNext::kNothing;
  if (!known.lost_port) return PortsNext::kHoldAgain;
  report.why.reason = job::Reason::kPortLost;
  report.port_lost = true;
  return PortsNext::kTakeOthers;
}

}  // namespace gangrun::agent
