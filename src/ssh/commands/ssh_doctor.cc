#include "ssh/commands/ssh_doctor.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/format.h"
#include "base/sizes.h"
#include "base/terminal_text.h"
#include "client/agent_program.h"
#include "client/ending_guard.h"
#include "client/text.h"
#include "host/ending_signals.h"
#include "net/event_loop.h"
#include "ssh/commands/ssh_backend.h"
#include "ssh/host_addresses.h"

namespace gangrun::ssh::commands {

namespace {

using cluster::Check;
using cluster::Verdict;

// With less, a log or two fill the disk.
constexpr std::int64_t kLittleRoom = std::int64_t{100} << 20U;
// The longest words of a host about itself that a row shows.
constexpr std::size_t kMaxTheirBytes = 100;
// A keeper that has no job ends with its input.
constexpr std::chrono::seconds kLeaveLimit(5);

void let_go(ssh::HostLinks& links, base::Instant deadline) {
  for (std::size_t i = 0; i < links.size(); ++i) links.at(i).finish(deadline);
  for (std::size_t i = 0; i < links.size(); ++i) (void)links.at(i).wait_for_end(deadline);
}

// The addresses by which the hosts would know each other, where there is something to say of them.
void add_addresses(ssh::HostLinks& links, client::Examination& examination) {
  std::vector<ssh::SeenHost> seen;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ssh::HostLink& link = links.at(i);
    if (!link.is_up()) return;
    seen.push_back(ssh::seen_host(link.host(), link.hello()));
  }
  const auto chosen = ssh::choose_addresses(seen, "");
  if (!chosen.ok()) {
    examination.checks.push_back({"addresses", Verdict::kFailed, chosen.error().message});
    return;
  }
  for (const std::string& remark : chosen->remarks) {
    examination.checks.push_back({"addresses", Verdict::kWarning, remark});
  }
}

}  // namespace

Check check_of_host(const std::string& host, const ssh::HelloMessage& hello) {
  const bool is_weakest = hello.containment == job::Containment::kSubreaper;
  const std::string lack =
      hello.containment_lack.empty()
          ? ""
          : base::format(" ({})", base::their_words(hello.containment_lack, kMaxTheirBytes));
  const auto gpus = static_cast<std::int64_t>(hello.gpus.list.size());
  const std::string engine =
      hello.engine.empty()
          ? "no container engine"
          : base::format("container engine {}",
                         base::their_words(
                             std::string_view(hello.engine).substr(hello.engine.rfind('/') + 1),
                             kMaxTheirBytes));
  // The facts that differ most from host to host come first: a narrow terminal cuts the rest.
  Check check{host, Verdict::kOk,
              base::format("{}; containment {}{}; {}; {} free in {}; {}; its address is {}{}",
                           gpus == 0 ? "no GPU" : base::count_text(gpus, "GPU"),
                           job::to_string(hello.containment), lack, engine,
                           base::size_text(static_cast<std::uint64_t>(hello.free_bytes)),
                           hello.folder, base::their_words(hello.system, kMaxTheirBytes),
                           hello.address, hello.shares_folder ? "; it shares this folder" : "")};
  if (is_weakest || hello.free_bytes < kLittleRoom) check.verdict = Verdict::kWarning;
  return check;
}

base::Result<client::Examination> look_at_hosts(const job::JobSpec& spec,
                                                client::Context& context) {
  client::Examination examination;
  examination.checks.push_back(client::check_agent(context));
  if (examination.checks.front().verdict != Verdict::kOk) {
    for (const job::Host& host : spec.hosts) {
      examination.checks.push_back(
          {host.name, Verdict::kNotChecked, "there is no agent to start on it"});
    }
    return examination;
  }
  GANGRUN_ASSIGN(const std::string agent, client::find_agent(context));
  net::EventLoop loop;
  bool is_cancelled = false;
  GANGRUN_ASSIGN(const auto guard, client::EndingGuard::start_in(
                                       loop, {.signals = host::ending_signals(),
                                              .on_signal = [&](int) { is_cancelled = true; }}));
  guard->set_words("interrupted: not all hosts have answered");
  GANGRUN_ASSIGN(const auto links, make_links(loop, spec, agent, context.folder));
  links->open_all(context.clock.now() + kLoginLimit, [&is_cancelled] { return is_cancelled; });
  for (std::size_t i = 0; i < links->size(); ++i) {
    const std::string& host = links->at(i).host();
    if (const auto& trouble = links->trouble(i)) {
      examination.checks.push_back({host, Verdict::kFailed, trouble->message});
    } else if (links->at(i).is_up()) {
      examination.checks.push_back(check_of_host(host, links->at(i).hello()));
    } else {
      examination.checks.push_back({host, Verdict::kNotChecked,
                                    is_cancelled ? "it was not waited for"
                                                 : base::format("it did not answer within {}",
                                                                base::to_words(kLoginLimit))});
    }
  }
  add_addresses(*links, examination);
  examination.is_whole = !is_cancelled;
  let_go(*links, context.clock.now() + (is_cancelled ? client::kSilencePatience : kLeaveLimit));
  return examination;
}

}  // namespace gangrun::ssh::commands
