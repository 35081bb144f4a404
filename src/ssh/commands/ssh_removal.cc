#include "ssh/commands/ssh_removal.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "client/agent_program.h"
#include "client/ending_guard.h"
#include "host/ending_signals.h"
#include "net/event_loop.h"
#include "ssh/commands/ssh_backend.h"
#include "ssh/commands/ssh_turn.h"
#include "ssh/host_records.h"

namespace gangrun::ssh::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxWhy = 300;
// A host may take so long to remove its folder, and to end. That it is down ssh notices before.
constexpr std::chrono::minutes kRemovalLimit(30);
constexpr std::chrono::seconds kLeaveLimit(5);

// Asks each host of a job, and hears what it says.
class Removal {
 public:
  Removal(net::EventLoop& loop, ssh::HostLinks& links, std::string job_id)
      : loop_(loop), links_(links), job_id_(std::move(job_id)), answers_(links.size()) {}

  // Returns when each host has answered or is down, when it is cancelled, or at `deadline`.
  void ask_all(const std::function<bool()>& is_cancelled, base::Instant deadline);
  // Why the host still has something; empty: it has not.
  [[nodiscard]] std::string trouble(std::size_t index) const {
    return answers_[index].value_or("it did not answer");
  }

 private:
  void on_frame(std::size_t index, const ssh::Frame& frame);
  void on_message(std::size_t index, const base::Json& json);
  void answer(std::size_t index, std::string text) {
    if (!answers_[index]) answers_[index] = base::shorten(text, kMaxWhy);
  }

  net::EventLoop& loop_;
  ssh::HostLinks& links_;
  const std::string job_id_;
  std::vector<std::optional<std::string>> answers_;
};

void Removal::ask_all(const std::function<bool()>& is_cancelled, base::Instant deadline) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (const auto& trouble = links_.trouble(i)) {
      answer(i, trouble->message);
      continue;
    }
    links_.set_callbacks(i, {.on_up = [] {},
                             .on_frame = [this, i](const ssh::Frame& frame) { on_frame(i, frame); },
                             .on_down = [this, i](const base::Error& why,
                                                  bool /*can_pass*/) { answer(i, why.message); },
                             .on_drained = [] {}});
    links_.at(i).send(ssh::RemoveMessage{job_id_});
  }
  links_.keep_pinging();
  (void)loop_.run_until(
      [&] {
        return is_cancelled() ||
               std::ranges::all_of(answers_, [](const auto& each) { return each.has_value(); });
      },
      deadline);
}

void Removal::on_frame(std::size_t index, const ssh::Frame& frame) {
  std::visit(base::Overloaded{
                 [&](const ssh::MessageFrame& each) { on_message(index, each.message); },
                 [](const base::OneOf<ssh::OpenFrame, ssh::StreamFrame, ssh::LogFrame,
                                      ssh::FileFrame> auto&) {},
             },
             frame);
}

void Removal::on_message(std::size_t index, const base::Json& json) {
  const auto message = ssh::keeper_message_from_json(json);
  if (!message.ok()) return answer(index, message.error().message);
  std::visit(base::Overloaded{
                 [&](const ssh::RemovedMessage& removed) {
                   answer(index, removed.left.empty() ? "" : base::their_words(removed.left));
                 },
                 [&](const ssh::RefusedMessage& refused) {
                   answer(index, base::their_words(refused.detail));
                 },
                 [&](const ssh::LeavingMessage&) {
                   answer(index, "the program of gangrun there was told to end");
                 },
                 [](const auto& /*other*/) {},
             },
             *message);
}

// The job, with only those of its hosts that have something of it.
job::JobSpec with_hosts(job::JobSpec spec, const std::vector<ssh::HostRecord>& records) {
  spec.hosts.clear();
  for (const ssh::HostRecord& record : records) spec.hosts.push_back({record.host, {}});
  return spec;
}

}  // namespace

Result<> remove_from_hosts(const job::JobSpec& spec, const std::string& job_id,
                           const std::string& hosts_file, const client::Context& context) {
  GANGRUN_ASSIGN(auto records, ssh::read_host_records(hosts_file));
  if (records.empty()) return {};
  GANGRUN_ASSIGN(const std::string agent, client::find_agent(context));
  net::EventLoop loop;
  bool is_cancelled = false;
  GANGRUN_ASSIGN(const auto guard, client::EndingGuard::start_in(
                                       loop, {.signals = host::ending_signals(),
                                              .gives_back = true,
                                              .on_signal = [&](int) { is_cancelled = true; }}));
  guard->set_words(base::format(
      "interrupted: not all hosts have confirmed that nothing of {0} is left; `gangrun rm {0}` "
      "asks them again",
      job_id));
  const auto cancelled = [&is_cancelled] { return is_cancelled; };
  const auto turn = take_turn(loop, hosts_file, cancelled, context);
  // Meanwhile another command has removed all of it.
  if (!turn.ok() && turn.error().code == base::Code::kNotFound) return {};
  // A full disk does not stop who makes room.
  if (!turn.ok() && turn.error().code != base::Code::kResourceExhausted) return turn.error();
  // Another command may have changed them before it was our turn.
  GANGRUN_ASSIGN(records, ssh::read_host_records(hosts_file));
  if (records.empty()) return {};
  GANGRUN_ASSIGN(const auto links,
                 make_links(loop, with_hosts(spec, records), agent, context.folder));
  (void)links->open_all(context.clock.now() + kLoginLimit, cancelled);
  Removal removal(loop, *links, job_id);
  removal.ask_all(cancelled, context.clock.now() + kRemovalLimit);
  const base::Instant deadline =
      context.clock.now() + (is_cancelled ? client::kSilencePatience : kLeaveLimit);
  for (std::size_t i = 0; i < links->size(); ++i) links->at(i).finish(deadline);
  std::vector<ssh::HostRecord> rest;
  std::string first;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string why = removal.trouble(i);
    if (why.empty()) continue;
    rest.push_back(records[i]);
    if (first.empty()) {
      first = base::format("host {} still has {}: {}", records[i].host, records[i].path, why);
    }
  }
  GANGRUN_TRY(ssh::write_host_records(hosts_file, rest));
  if (rest.empty()) return {};
  return base::unavailable(
      rest.size() == 1 ? first : base::format("{} (and {} other hosts)", first, rest.size() - 1));
}

}  // namespace gangrun::ssh::commands
