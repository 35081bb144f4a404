#include "ssh/commands/ssh_rests.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "client/agent_program.h"
#include "client/ending_guard.h"
#include "cluster/brought_files.h"
#include "host/ending_signals.h"
#include "net/event_loop.h"
#include "ssh/commands/ssh_backend.h"
#include "ssh/commands/ssh_turn.h"
#include "ssh/host_records.h"
#include "ssh/ssh_launcher.h"

namespace gangrun::ssh::commands {

namespace {

using base::Result;
using ssh::HostRecord;

constexpr std::size_t kMaxWhy = 400;
// A host of which nothing comes for so long brings nothing more.
constexpr std::chrono::seconds kSilenceLimit(60);
constexpr std::chrono::seconds kLeaveLimit(10);

// The request to a host.
ssh::BringMessage bring_of(const job::JobSpec& spec, const HostRecord& record) {
  ssh::BringMessage bring;
  if (record.rest == ssh::Rest::kOverLimit) {
    const std::int64_t limit = spec.outputs_limit_mib.value_or(ssh::kDefaultOutputsMib);
    bring.names = record.names;
    bring.new_too = true;
    bring.limit = static_cast<std::uint64_t>(limit) << 20U;
    bring.only_rest = true;
  } else {
    std::vector<std::optional<std::vector<std::string>>> outputs;
    for (const job::TaskSpec& task : spec.tasks) outputs.push_back(spec.outputs_of(task));
    bring = ssh::bring_message(outputs, std::numeric_limits<std::uint64_t>::max());
  }
  bring.run_folder = record.run_folder;
  return bring;
}

// The conversation with one host.
class RestBringing {
 public:
  RestBringing(net::EventLoop& loop, ssh::HostLink& link, const HostRecord& record,
               const std::string& folder, client::TransferProgress& progress)
      : loop_(loop),
        link_(link),
        record_(record),
        files_(folder, record.over_bytes),
        progress_(progress) {}

  [[nodiscard]] ssh::HostLink::Callbacks callbacks() {
    return {.on_up = [] {},
            .on_frame = [this](const ssh::Frame& frame) { on_frame(frame); },
            .on_down = [this](const base::Error& why, bool /*can_pass*/) { fail(why.message); },
            .on_drained = [] {}};
  }
  // The link is up. Returns when all has come or failed, or when it is cancelled.
  void run(const ssh::BringMessage& bring, const std::function<bool()>& is_cancelled);
  // Why not all has come; empty: it has.
  [[nodiscard]] const std::string& failure() const { return *failure_; }
  [[nodiscard]] bool is_gone() const { return brought_.is_gone; }
  // The files that cannot be brought at all; empty: none.
  [[nodiscard]] std::string odd() const {
    return brought_.odd_files == 0 ? "" : cluster::odd_words(brought_.odd, brought_.odd_files);
  }
  [[nodiscard]] const cluster::BroughtFiles& files() const { return files_; }

 private:
  void await_more() {
    silence_ = loop_.after(kSilenceLimit, [this] {
      trouble(base::format("nothing came for {}", base::to_words(kSilenceLimit)));
    });
  }
  void on_frame(const ssh::Frame& frame);
  void on_message(const base::Json& json);
  void on_output(const ssh::OutputMessage& output);
  void on_bytes(std::string_view bytes);
  void on_brought(const ssh::BroughtMessage& brought);
  void fail(std::string_view sentence) {
    if (!failure_) failure_ = base::shorten(sentence, kMaxWhy);
  }
  void trouble(std::string_view why) { fail(base::format("host {}: {}", record_.host, why)); }

  net::EventLoop& loop_;
  ssh::HostLink& link_;
  const HostRecord& record_;
  cluster::BroughtFiles files_;
  client::TransferProgress& progress_;
  std::optional<std::string> failure_;
  ssh::BroughtMessage brought_;  // the end, as the host says
  std::string name_;             // of the file that comes
  std::uint64_t size_ = 0;
  std::uint64_t got_ = 0;
  net::Timer silence_;
};

void RestBringing::run(const ssh::BringMessage& bring, const std::function<bool()>& is_cancelled) {
  link_.send(bring);
  await_more();
  // It has a limit of its own.
  constexpr std::chrono::hours kLongest(24 * 365);
  (void)loop_.run_until([&] { return is_cancelled() || failure_.has_value(); },
                        loop_.now() + kLongest);
  if (is_cancelled()) trouble("stopped");
  silence_.reset();
}

void RestBringing::on_frame(const ssh::Frame& frame) {
  if (failure_) return;
  await_more();
  std::visit(
      base::Overloaded{[this](const ssh::MessageFrame& message) { on_message(message.message); },
                       [this](const ssh::FileFrame& bytes) { on_bytes(bytes.content); },
                       [](const auto& /*other*/) {}},
      frame);
}

void RestBringing::on_message(const base::Json& json) {
  const auto message = ssh::keeper_message_from_json(json);
  if (!message.ok()) return trouble(message.error().message);
  std::visit(base::Overloaded{[this](const ssh::OutputMessage& output) { on_output(output); },
                              [this](const ssh::BroughtMessage& brought) { on_brought(brought); },
                              [this](const ssh::RefusedMessage& refused) {
                                trouble(base::their_words(refused.detail));
                              },
                              [this](const ssh::LeavingMessage&) {
                                trouble("the program of gangrun there was told to end");
                              },
                              [](const auto& /*other*/) {}},
             *message);
}

void RestBringing::on_output(const ssh::OutputMessage& output) {
  if (got_ < size_) return trouble(base::format("{} did not come whole", name_));
  name_ = base::harmless_sentence(base::format("{}/{}", record_.host, output.name));
  size_ = output.size;
  got_ = 0;
  const auto begun = files_.begin(
      {output.name, output.size, output.is_executable, output.target, output.is_folder});
  if (!begun.ok()) return trouble(begun.error().message);
  progress_.show(name_, 0, size_);
}

void RestBringing::on_bytes(std::string_view bytes) {
  const auto added = files_.add(bytes);
  if (!added.ok()) return trouble(added.error().message);
  got_ += bytes.size();
  progress_.show(name_, got_, size_);
}

void RestBringing::on_brought(const ssh::BroughtMessage& brought) {
  brought_ = brought;
  brought_.odd_files = std::max<std::uint64_t>(brought.odd_files, brought.odd.size());
  if (brought.is_gone) {
    return trouble(
        base::format("it has no {} any more: what a job leaves is kept for a day", record_.path));
  }
  if (!brought.failure.empty()) return trouble(base::their_words(brought.failure));
  if (got_ < size_) return trouble(base::format("{} did not come whole", name_));
  if (brought.left_files > 0) return trouble("it has not brought all");
  if (const std::string skipped = files_.skipped_words(); !skipped.empty()) return trouble(skipped);
  failure_ = "";
}

// All that is needed for each of the hosts.
struct Asking {
  net::EventLoop& loop;
  const job::JobSpec& spec;
  const host::JobPaths& paths;
  const std::string& agent;
  const client::Context& context;
  client::TransferProgress& progress;
  std::function<bool()> is_cancelled;
};

// How a host's part ended, and what the record of it is to be; none: nothing is there any more.
struct Ended {
  client::BroughtRest brought;
  std::optional<HostRecord> record;
};

Result<Ended> bring_from(const Asking& asking, const HostRecord& record) {
  Ended ended{.brought = {.host = record.host}, .record = record};
  job::JobSpec spec = asking.spec;
  spec.hosts = {{record.host, {}}};
  GANGRUN_ASSIGN(const auto links,
                 make_links(asking.loop, spec, asking.agent, asking.context.folder));
  const bool in_time =
      links->open_all(asking.context.clock.now() + kLoginLimit, asking.is_cancelled);
  const auto& trouble = links->trouble(0);
  if (asking.is_cancelled() || !in_time || trouble) {
    ended.brought.failure = trouble ? trouble->message
                                    : base::format("host {}: {}", record.host,
                                                   in_time ? "it was not waited for"
                                                           : "it was not logged in to in time");
    return ended;
  }
  ssh::HostLink& link = links->at(0);
  RestBringing bringing(asking.loop, link, record,
                        base::format("{}/{}", asking.paths.outputs(), record.host),
                        asking.progress);
  links->set_callbacks(0, bringing.callbacks());
  links->keep_pinging();
  bringing.run(bring_of(asking.spec, record), asking.is_cancelled);
  ended.brought.failure = bringing.failure();
  ended.brought.files = bringing.files().files();
  ended.brought.bytes = bringing.files().bytes();
  const base::Instant deadline =
      asking.context.clock.now() + (asking.is_cancelled() ? client::kSilencePatience : kLeaveLimit);
  if (bringing.is_gone() && record.path.starts_with(link.hello().folder + "/")) {
    ended.record.reset();
  }
  if (!bringing.failure().empty()) {
    // Its files stay unchanged.
    link.finish(deadline);
    return ended;
  }
  const bool keeps = asking.spec.keep_folders;
  const std::string odd = bringing.odd();
  if (!odd.empty()) {
    // The files that cannot be brought stay as they are.
    ended.brought.remark = base::format("host {}: what cannot be brought stays in {}/work: {}",
                                        record.host, record.path, odd);
  }
  ended.record->odd = odd;
  const auto kept = keeps         ? ssh::Kept::kFolder
                    : odd.empty() ? ssh::Kept::kNothing
                                  : ssh::Kept::kWritten;
  link.send(ssh::EndMessage{kept});
  link.finish(deadline);
  ended.record->rest = ssh::Rest::kNothing;
  if (link.wait_for_end(deadline).ok() && kept == ssh::Kept::kNothing) ended.record.reset();
  return ended;
}

// The records, one by one as they become.
Result<> note(const std::string& file, std::vector<HostRecord>& records, const HostRecord& old,
              const std::optional<HostRecord>& now) {
  const auto found = std::ranges::find(records, old);
  if (found == records.end()) return {};
  if (now) {
    *found = *now;
  } else {
    records.erase(found);
  }
  return ssh::write_host_records(file, records);
}

// The files of one host are told whatever goes wrong with another one, or behind it.
client::BroughtRest bring_and_note(const Asking& asking, std::vector<HostRecord>& records,
                                   const HostRecord& record) {
  auto ended = bring_from(asking, record);
  if (!ended.ok()) {
    return {.host = record.host,
            .failure = base::format("host {}: {}", record.host, ended.error().message)};
  }
  const auto noted = note(asking.paths.hosts(), records, record, ended->record);
  if (!noted.ok() && ended->brought.failure.empty()) {
    ended->brought.failure = base::format("host {}: that all has come could not be noted: {}",
                                          record.host, noted.error().message);
  }
  return std::move(ended->brought);
}

// The files of a host that has nothing to bring, now or for a day; empty: none.
std::string stays_words(const job::JobSpec& spec, const HostRecord& record) {
  if (record.works_here) return {};
  if (!record.odd.empty()) {
    return base::format("host {}: what cannot be brought stays in {}/work{}: {}", record.host,
                        record.path, spec.keep_folders ? "" : " for a day", record.odd);
  }
  if (!spec.keep_folders) return {};
  return base::format("host {}: the job's folder {} stays until `gangrun rm`", record.host,
                      record.path);
}

}  // namespace

Result<std::vector<client::BroughtRest>> bring_rests(const job::JobSpec& spec,
                                                     const host::JobPaths& paths,
                                                     const std::string& only,
                                                     client::TransferProgress& progress,
                                                     const client::Context& context) {
  std::vector<client::BroughtRest> all;
  net::EventLoop loop;
  bool is_cancelled = false;
  GANGRUN_ASSIGN(const auto guard, client::EndingGuard::start_in(
                                       loop, {.signals = host::ending_signals(),
                                              .gives_back = true,
                                              .on_signal = [&](int) { is_cancelled = true; }}));
  guard->set_words(
      "interrupted while a host did not answer; what it still has comes with the next "
      "`gangrun fetch`");
  const auto cancelled = [&is_cancelled] { return is_cancelled; };
  GANGRUN_ASSIGN(auto records, ssh::read_host_records(paths.hosts()));
  if (records.empty()) return all;
  GANGRUN_ASSIGN(const base::UniqueFd turn, take_turn(loop, paths.hosts(), cancelled, context));
  // Another command may have changed them before it was our turn.
  GANGRUN_ASSIGN(records, ssh::read_host_records(paths.hosts()));
  const bool is_host =
      std::ranges::any_of(spec.hosts, [&only](const job::Host& host) { return host.name == only; });
  std::vector<HostRecord> asked;
  for (const HostRecord& record : records) {
    if (is_host && record.host != only) continue;
    if (!record.works_here && record.rest != ssh::Rest::kNothing) {
      asked.push_back(record);
    } else if (std::string words = stays_words(spec, record); !words.empty()) {
      all.push_back({.host = record.host, .remark = std::move(words)});
    }
  }
  if (asked.empty()) return all;
  GANGRUN_ASSIGN(const std::string agent, client::find_agent(context));
  const Asking asking{loop, spec, paths, agent, context, progress, cancelled};
  for (const HostRecord& record : asked) {
    all.push_back(bring_and_note(asking, records, record));
    if (is_cancelled) break;
  }
  return all;
}

}  // namespace gangrun::ssh::commands
