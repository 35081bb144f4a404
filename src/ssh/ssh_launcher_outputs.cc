#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "ssh/ssh_launcher_internal.h"

// Bringing the files that tasks have written, once the job has ended; and the record of
// what hosts have.
namespace gangrun::ssh {

namespace {

// A host that brings nothing for so long brings nothing more.
constexpr std::chrono::seconds kBringLimit(60);
// So often its connection may break meanwhile.
constexpr int kMaxAsked = 5;
constexpr std::size_t kMaxFailure = 400;
// A host that was lost a moment before the end may take so long to be back. Else what it has goes
// by itself, later (docs/protocols/ssh.md).
constexpr std::chrono::seconds kReturnLimit(3);

std::string odd_of(const BroughtMessage& said) {
  if (said.odd_files == 0) return {};
  return base::shorten(cluster::odd_words(said.odd, said.odd_files), kMaxFailure);
}

}  // namespace

// Hosts of which no master of the job has told before are read from the record of the earlier one.
void SshLauncher::recall_hosts() {
  if (options_.is_first_master) return;
  const auto records = read_host_records(options_.hosts_file);
  if (!records.ok()) return logger_.error("{}", records.error().message);
  for (const HostRecord& record : *records) {
    Host* const host = host_of(record.host);
    if (host == nullptr) continue;
    host->had_before(record.run_folder, record.works_here);
    host->folder_path = record.path;
  }
}

Rest SshLauncher::rest_of(const Host& host) {
  const BroughtMessage& said = host.report.said;
  if (host.bringing != Host::Bringing::kOver || !said.failure.empty()) return Rest::kAll;
  return said.left_files > 0 ? Rest::kOverLimit : Rest::kNothing;
}

void SshLauncher::record_hosts() const {
  std::vector<HostRecord> records;
  for (const auto& host : hosts_) {
    if (host->run_folder.empty() || host->is_clear) continue;
    // A folder without files of tasks goes within a day, whatever happens.
    if (host->works_here.value_or(false) && host->left.empty()) continue;
    records.push_back({host->name(), host->run_folder, host->folder_path,
                       host->works_here.value_or(false), rest_of(*host),
                       host->report.said.left_bytes, bring_of(*host).names,
                       odd_of(host->report.said)});
  }
  const auto written = write_host_records(options_.hosts_file, records);
  if (!written.ok()) logger_.error("{}", written.error().message);
}

void SshLauncher::settle(std::function<void()> done) {
  settled_ = std::move(done);
  for (const auto& host : hosts_) {
    if (is_silent(*host)) give_up_tails(host.get());
  }
  are_lines_awaited_ = !tails_.empty();
  if (!are_lines_awaited_) bring_outputs();
}

void SshLauncher::bring_outputs() {
  for (const auto& host : hosts_) {
    const bool has_copy = !host->run_folder.empty() && !host->works_here.value_or(true);
    const bool has_written = has_copy && host->had_tasks;
    host->bringing = has_written ? Host::Bringing::kAwaited : Host::Bringing::kOver;
    if (!has_written) host->kept = Kept::kNothing;
    // One that does not come back is waited for no longer than one that brings nothing.
    if (has_written) await_more(*host);
    if (host->bringing == Host::Bringing::kAwaited && host->state == Host::State::kReady) {
      ask_for_outputs(*host);
    }
    // Its lease is over: nobody comes any more.
    const bool is_gone =
        host->state == Host::State::kDown && host->was_up && !host->lease.pending();
    if (host->bringing == Host::Bringing::kAwaited && is_gone) fail_bringing(*host, host->trouble);
    const bool is_awaited = host->bringing != Host::Bringing::kOver;
    if (is_awaited && is_silent(*host)) fail_bringing(*host, "it does not answer");
    if (host->bringing == Host::Bringing::kOver) await_return(*host);
  }
  settle_if_over();
}

void SshLauncher::await_return(Host& host) {
  const bool was_lost_now = host.was_up && host.state != Host::State::kReady &&
                            (host.state != Host::State::kDown || host.lease.pending());
  if (!was_lost_now || host.run_folder.empty() || is_silent(host)) return;
  host.return_limit = loop_.after(kReturnLimit, [this] { settle_if_over(); });
  if (host.state == Host::State::kDown) links_->open(host.index);
}

void SshLauncher::cut_short() {
  // Files are requested then, if they were not before, and given up too.
  if (!tails_.empty()) give_up_tails(nullptr);
  for (const auto& host : hosts_) {
    if (host->is_to_bring()) fail_bringing(*host, "nobody waited for it");
    host->return_limit.reset();
  }
  settle_if_over();
}

BringMessage SshLauncher::bring_of(const Host& host) const {
  std::vector<std::optional<std::vector<std::string>>> outputs;
  for (const auto& [type, each] : options_.outputs) {
    if (host.had_others || host.types.contains(type)) outputs.push_back(each);
  }
  return bring_message(outputs, options_.outputs_limit);
}

void SshLauncher::ask_for_outputs(Host& host) {
  // Each time it begins again.
  if (++host.times_asked > kMaxAsked) return fail_bringing(host, host.trouble);
  const BringMessage bring = bring_of(host);
  host.bringing = Host::Bringing::kGoesOn;
  host.report = {.host = host.name(), .folder = host.folder_path + "/work"};
  // Files that are named have no limit but the disk's.
  host.outputs = std::make_unique<cluster::BroughtFiles>(
      base::format("{}/{}", options_.output_folder, host.name()),
      bring.names.empty() ? bring.limit : 0);
  if (bring.names.empty() && !bring.new_too) return end_bringing(host);
  host.link->send(bring);
}

void SshLauncher::await_more(Host& host) {
  host.bring_limit = loop_.after(kBringLimit, [this, &host] {
    fail_bringing(host, base::format("nothing came for {}", base::to_words(kBringLimit)));
  });
}

bool SshLauncher::is_bringing(const Host& host) const {
  return host.bringing == Host::Bringing::kGoesOn && host.outputs != nullptr;
}

void SshLauncher::on(Host& host, const OutputMessage& message) {
  if (host.bringing == Host::Bringing::kNotYet) {
    return host.link->give_up("brings a file, which nobody asked for");
  }
  // It may not know yet that nobody waits any longer.
  if (!is_bringing(host)) return;
  await_more(host);
  check_output(host, host.outputs->begin({message.name, message.size, message.is_executable,
                                          message.target, message.is_folder}));
}

void SshLauncher::on(Host& host, const FileFrame& frame) {
  if (host.bringing == Host::Bringing::kNotYet) {
    return host.link->give_up("sends a file, which nobody asked for");
  }
  if (!is_bringing(host)) return;
  await_more(host);
  check_output(host, host.outputs->add(frame.content));
}

void SshLauncher::check_output(Host& host, const base::Result<>& done) {
  if (!done.ok()) fail_bringing(host, done.error().message);
}

void SshLauncher::on(Host& host, const BroughtMessage& message) {
  if (!is_bringing(host)) return;
  const auto first = [](const std::vector<std::string>& names) {
    return std::vector<std::string>(
        names.begin(),
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), job::kMaxOutputs)));
  };
  BroughtMessage& said = host.report.said = message;
  said.left = first(message.left);
  said.odd_files = std::max<std::uint64_t>(message.odd_files, message.odd.size());
  said.missing = first(message.missing);
  said.failure =
      message.is_gone ? "its folder is gone" : base::shorten(message.failure, kMaxFailure);
  end_bringing(host);
}

void SshLauncher::fail_bringing(Host& host, std::string why) {
  host.report.host = host.name();
  host.report.folder = host.folder_path + "/work";
  host.report.said.failure = std::move(why);
  end_bringing(host);
}

void SshLauncher::end_bringing(Host& host) {
  BroughtMessage& said = host.report.said;
  host.bringing = Host::Bringing::kOver;
  host.bring_limit.reset();
  if (host.outputs != nullptr) {
    host.outputs->drop();
    // Files that have no place here stay there.
    if (said.failure.empty()) said.failure = host.outputs->skipped_words();
    host.report.files = host.outputs->files();
    host.report.folders = host.outputs->folders();
    host.report.bytes = host.outputs->bytes();
  }
  host.outputs.reset();
  const bool is_whole = said.failure.empty() && said.left_files == 0 && said.odd_files == 0;
  host.kept = options_.keep_folders ? Kept::kFolder : is_whole ? Kept::kNothing : Kept::kWritten;
  // Whatever has ended it, nobody waits for this host any longer.
  outbox_.post([this] { settle_if_over(); });
}

void SshLauncher::settle_if_over() {
  if (!settled_) return;
  std::vector<HostReport> reports;
  for (const auto& host : hosts_) {
    if (host->bringing != Host::Bringing::kOver || host->return_limit.pending()) return;
    if (!host->report.host.empty()) reports.push_back(host->report);
  }
  for (std::string& sentence : outputs_report(
           reports, options_.output_folder,
           static_cast<std::int64_t>(options_.outputs_limit >> 20U), options_.keep_folders)) {
    emit(cluster::Remark{std::move(sentence)});
  }
  // Behind the remarks, and never inside the call.
  outbox_.post(std::exchange(settled_, nullptr));
}

}  // namespace gangrun::ssh
