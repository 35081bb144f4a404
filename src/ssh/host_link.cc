#include "ssh/host_link.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "net/digests.h"
#include "process/pipe.h"
#include "process/spawn.h"
#include "process/wait_for.h"
#include "ssh/ssh_failure.h"

namespace gangrun::ssh {

namespace {

constexpr std::size_t kMaxAgentBytes = std::size_t{256} << 20U;
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
constexpr std::size_t kMaxSaid = 4096;
// The most that a login may print.
constexpr std::size_t kMaxLoginBytes = std::size_t{4} << 20U;
// The most that the script may say.
constexpr std::size_t kMaxWhat = 80;
constexpr std::size_t kMaxWhy = 1000;
// The status of a shell above which it tells the signal that ended a process; and ssh's status for
// its own failures.
constexpr int kSignalStatus = 128;
constexpr int kSshStatus = 255;
// A shell's, of a program that it does not find.
constexpr int kNotFoundStatus = 127;
// From the start of ssh to the first word of the host, and from there to the keeper's hello, while
// nothing is copied.
constexpr std::chrono::seconds kShellLimit(kConnectSeconds + 15);
constexpr std::chrono::seconds kHelloLimit(30);
// The longest time without progress while the agent is copied.
constexpr std::chrono::seconds kCopyLimit(60);
// The shell beside ssh keeps the reading end of ssh's output (9), so that a keeper whose input ends
// while somebody still reads its output knows that we have died, and that the link has not. A full
// output would keep ssh forever then: when we have died (the end of 8), it is read to its end, by
// a descriptor of its own, as ours does not wait.
// Where the shell is killed, ssh goes too (on_process_end).
constexpr int kKeptFd = 9;
constexpr int kAliveFd = 8;
constexpr const char* kShellScript =
    "(read -r end <&8; exec cat /proc/self/fd/9) >/dev/null 2>&1 & reader=$!\n"
    "\"$@\" 8<&- 9<&-\n"
    "status=$?\n"
    "kill $reader 2>/dev/null\n"
    "exit $status";
// After the end of its output.
constexpr std::chrono::seconds kEndLimit(2);

// False: nothing will come any more.
bool read_some(int fd, std::string& into) {
  char buffer[kReadBytes];
  const ssize_t got = ::read(fd, buffer, sizeof(buffer));
  if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// By the words of dash and of bash. Where there is no ssh no host has said them.
bool lacks_ssh(std::string_view said) {
  return said.find("ssh: not found") != std::string_view::npos ||
         said.find("ssh: command not found") != std::string_view::npos;
}

base::Error unconfirmed() {
  return base::unavailable("it did not say that the job's folder is removed");
}

// The result, once the host has said its last word: that it has done all, or cannot.
std::optional<base::Result<>> last_word_in(const base::Json& json) {
  const auto message = keeper_message_from_json(json);
  if (!message.ok()) {
    return base::Result<>(base::unavailable(
        base::format("what it says is not understood: {}", message.error().message)));
  }
  using Word = std::optional<base::Result<>>;
  return std::visit(
      base::Overloaded{
          [](const LeavingMessage& /*each*/) { return Word(base::Result<>(unconfirmed())); },
          [](const RemovedMessage& removed) {
            if (removed.left.empty()) return Word(base::Result<>());
            return Word(base::Result<>(base::unavailable(base::their_words(removed.left))));
          },
          [](const auto& /*other*/) { return Word(); },
      },
      *message);
}

std::string new_marker() { return "gangrun-" + base::to_hex(net::random_bytes(8)); }

}  // namespace

base::Result<AgentFile> read_agent_file(const std::string& path) {
  AgentFile file;
  GANGRUN_ASSIGN(file.content, base::read_file(path, kMaxAgentBytes));
  net::Sha256Stream hash;
  hash.put(file.content);
  file.hash = base::to_hex(hash.finish());
  return file;
}

HostLink::HostLink(net::EventLoop& loop, std::string host, const LinkOptions& options)
    : loop_(loop), host_(std::move(host)), options_(options), ssh_call_(options.ssh) {}

HostLink::~HostLink() {
  if (!ssh_ || ssh_->reaped()) return;
  (void)ssh_->signal_group(SIGKILL);
  (void)ssh_->wait(loop_.now() + kEndLimit);
}

void HostLink::open(const std::string& folder_mark) {
  folder_mark_ = folder_mark;
  said_.clear();
  said_bytes_ = 0;
  failure_.clear();
  has_lost_keeper_ = false;
  out_.clear();
  out_begin_ = 0;
  frames_ = FrameReader();
  script_.emplace(new_marker());
  state_ = State::kShell;
  is_copying_ = false;
  if (const auto started = start_ssh(); !started.ok()) {
    // Never inside the call.
    limit_ =
        loop_.after(base::Duration(0), [this, why = started.error().message] { down(why, false); });
    return;
  }
  LoginInput login = options_.login;
  login.marker = script_->marker();
  login.host = host_;
  login.folder_mark = folder_mark;
  login.agent_hash = options_.agent.hash;
  login.agent_bytes = options_.agent.content.size();
  queue(login_script(login));
  limit_ = loop_.after(kShellLimit, [this] {
    const std::string said = login_words(script_->noise() + script_->rest(), said_);
    fail(said.empty()
             ? "has a login shell that does not answer: it may wait for an input"
             : base::format("has a login shell that does not come to its commands; it said {}",
                            base::their_words(said)));
  });
}

base::Result<> HostLink::start_ssh() {
  GANGRUN_ASSIGN(process::Pipe in, process::make_pipe());
  GANGRUN_ASSIGN(process::Pipe out, process::make_pipe());
  GANGRUN_ASSIGN(process::Pipe err, process::make_pipe());
  process::SpawnOptions options;
  options.argv = {"/bin/sh", "-c", kShellScript, "sh"};
  for (std::string& word : ssh_command(host_, ssh_call_)) {
    options.argv.push_back(std::move(word));
  }
  GANGRUN_ASSIGN(process::Pipe alive, process::make_pipe());
  options.inherited = {{out.read.get(), kKeptFd}, {alive.read.get(), kAliveFd}};
  options.environment = process::inherited_environment();
  options.standard_input = in.read.get();
  options.standard_output = out.write.get();
  options.standard_error = err.write.get();
  // It outlives us by as long as its keeper does, which sees the end of its input.
  options.new_group = process::NewGroup::kSession;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  ssh_.emplace(std::move(child));
  input_ = std::move(in.write);
  output_ = std::move(out.read);
  errors_ = std::move(err.read);
  alive_end_ = std::move(alive.write);
  for (const int fd : {input_.get(), output_.get(), errors_.get()}) {
    process::set_non_blocking(fd);
  }
  readable_ = loop_.watch_readable(output_.get(), [this] { on_output(); });
  errors_readable_ = loop_.watch_readable(errors_.get(), [this] { on_errors(); });
  ended_ = loop_.watch_readable(ssh_->end_fd(), [this] { on_process_end(); });
  return {};
}

void HostLink::send(const Frame& frame) {
  if (state_ == State::kUp) queue(to_bytes(frame));
}

void HostLink::queue(std::string_view bytes) {
  if (!input_.valid()) return;
  if (unsent_bytes() + bytes.size() > kMaxUnsentBytes + options_.agent.content.size()) {
    return fail("takes nothing of what is sent to it");
  }
  out_.append(bytes);
  if (!writable_.active()) writable_ = loop_.watch_writable(input_.get(), [this] { write(); });
}

void HostLink::write() {
  const ssize_t put = ::write(input_.get(), out_.data() + out_begin_, out_.size() - out_begin_);
  if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (put < 0) {
    // ssh has gone; how, its end tells.
    writable_.reset();
    input_.reset();
    return;
  }
  out_begin_ += static_cast<std::size_t>(put);
  if (is_copying_) await_copy();
  if (out_begin_ < out_.size()) {
    if (out_begin_ < kMaxChunkBytes * 16) return;
    out_.erase(0, std::exchange(out_begin_, 0));
    return;
  }
  out_.clear();
  out_begin_ = 0;
  writable_.reset();
  if (state_ == State::kUp && callbacks_.on_drained) callbacks_.on_drained();
}

void HostLink::on_output() {
  std::string got;
  if (!read_some(output_.get(), got)) {
    readable_.reset();
    input_.reset();
    writable_.reset();
    limit_ = loop_.after(kEndLimit, [this] { (void)ssh_->signal_group(SIGKILL); });
    return;
  }
  if (state_ == State::kShell) {
    script_->add(got);
    while (state_ == State::kShell && failure_.empty()) {
      const auto line = script_->next();
      if (!line) break;
      on_script(*line);
    }
    if (state_ == State::kHello) frames_.add(script_->take_rest());
    if (state_ == State::kShell && script_->skipped_bytes() > kMaxLoginBytes) {
      return prints_without_end();
    }
  } else {
    frames_.add(got);
  }
  if (state_ == State::kUp) heard_at_ = loop_.now();
  read_frames();
}

// Each byte that goes on gives it more time: links may be slow.
void HostLink::await_copy() {
  limit_ = loop_.after(kCopyLimit, [this] { fail("takes no copy of gangrun-agent"); });
}

void HostLink::on_script(const ScriptLine& line) {
  switch (line.word) {
    case ScriptWord::kNeedsAgent:
      if (is_copying_) return fail("asks twice for gangrun-agent");
      is_copying_ = true;
      await_copy();
      return queue(options_.agent.content);
    case ScriptWord::kHasAgent:
      state_ = State::kHello;
      is_copying_ = false;
      limit_ = loop_.after(kHelloLimit, [this] { fail("says no hello"); });
      return;
    case ScriptWord::kOtherMachine:
      if (line.rest.empty()) return fail("has no `uname` in the folders of its PATH");
      return fail(base::format("is {}; this gangrun has an agent for Linux x86_64 only",
                               base::their_words(line.rest, kMaxWhat)));
    case ScriptWord::kNoFolder:
      return fail(
          base::format("has no folder for gangrun-agent: {}; `ssh: {{folder: PATH}}` in a job file "
                       "names another",
                       base::their_words(line.rest, kMaxWhy)));
    case ScriptWord::kAgentNotKept:
      return fail(
          base::format("could not keep gangrun-agent: {}", base::their_words(line.rest, kMaxWhy)));
    case ScriptWord::kOther:
      return fail(
          "has a login that reads what is for its shell: a file such as ~/.bashrc reads standard "
          "input, which it must not without a terminal");
  }
}

void HostLink::read_frames() {
  while ((state_ == State::kHello || state_ == State::kUp) && failure_.empty()) {
    const auto frame = frames_.next();
    if (!frame.ok()) {
      return fail(
          base::format("is not understood: {} (a process that its login has left may write "
                       "to standard output)",
                       frame.error().message));
    }
    if (!*frame) return;
    if (state_ == State::kHello) {
      on_hello(**frame);
    } else {
      callbacks_.on_frame(**frame);
    }
  }
}

void HostLink::on_hello(const Frame& frame) {
  std::visit(base::Overloaded{
                 [this](const MessageFrame& first) { on_first_message(first.message); },
                 [this](const base::OneOf<OpenFrame, StreamFrame, LogFrame, FileFrame> auto&) {
                   fail("is not understood: no hello came first");
                 },
             },
             frame);
}

void HostLink::on_first_message(const base::Json& json) {
  auto message = keeper_message_from_json(json);
  if (!message.ok()) {
    return fail(base::format("is not understood: {}", message.error().message));
  }
  std::visit(base::Overloaded{
                 [this](const RefusedMessage& refused) {
                   fail(base::format("refuses: {}", base::their_words(refused.detail)));
                 },
                 [this](HelloMessage& hello) {
                   hello_ = std::move(hello);
                   state_ = State::kUp;
                   heard_at_ = loop_.now();
                   limit_.reset();
                   callbacks_.on_up();
                 },
                 [this](const auto& /*other*/) { fail("is not understood: no hello came first"); },
             },
             *message);
}

void HostLink::on_errors() {
  const std::size_t before = said_.size();
  if (!read_some(errors_.get(), said_)) errors_readable_.reset();
  said_bytes_ += said_.size() - before;
  if (said_.size() > kMaxSaid) said_.erase(0, said_.size() - kMaxSaid);
  if (state_ == State::kShell && said_bytes_ > kMaxLoginBytes) prints_without_end();
}

void HostLink::prints_without_end() {
  fail(base::format("has a login that prints without end; it said {}",
                    base::their_words(login_words(script_->noise() + script_->rest(), said_))));
}

// We end it: what it is that the host does wrong.
void HostLink::fail(std::string sentence) {
  if (state_ == State::kDown || !failure_.empty()) return;
  failure_ = std::move(sentence);
  readable_.reset();
  (void)ssh_->signal_group(SIGKILL);
}

void HostLink::lose_keeper(std::string sentence) {
  if (state_ != State::kUp || !failure_.empty()) return;
  has_lost_keeper_ = true;
  fail(std::move(sentence));
}

void HostLink::on_process_end() {
  // If only the shell was killed, ssh lives. The keeper is to see a link that is cut, by which
  // tasks go on, and not the end of its input alone. The group has its number until we reap.
  (void)ssh_->signal_group(SIGKILL);
  const auto exit = ssh_->reap();
  if (exit.ok() && !*exit) return;
  // The keeper's last words, and what its host did.
  while (errors_readable_.active() && process::wait_readable(errors_.get(), loop_.now()))
    on_errors();
  while (readable_.active() && process::wait_readable(output_.get(), loop_.now())) on_output();
  ended_.reset();
  if (!failure_.empty()) return down(base::format("host {} {}", host_, failure_), has_lost_keeper_);
  // An older ssh. It has not gone anywhere yet: no host has said anything.
  const bool has_begun = state_ != State::kShell || script_->has_heard();
  if (!has_begun && exit.ok() && (*exit)->code == kSshStatus &&
      leave_out(unknown_option(said_), ssh_call_)) {
    return open(std::string(folder_mark_));
  }
  // A login that became a keeper was killed, or its link cut; so was an ssh that ended by a
  // signal, which the shell beside it tells as a status.
  const bool was_killed = !exit.ok() || (*exit)->shell_status() > kSignalStatus;
  const bool is_ssh_own = exit.ok() && (*exit)->code == kSshStatus && !base::trim(said_).empty();
  const bool can_pass = state_ == State::kHello || state_ == State::kUp ||
                        (is_ssh_own ? may_pass(said_) : was_killed);
  down(end_sentence(exit), can_pass);
}

// The words of the host's shell are told if ssh itself has nothing to say.
std::string HostLink::end_sentence(const base::Result<std::optional<process::Exit>>& exit) {
  const std::string how =
      base::format("ssh {}", exit.ok() ? (*exit)->to_words() : exit.error().message);
  const bool is_of_shell = state_ == State::kShell && exit.ok() && (*exit)->code != kSshStatus;
  if (!is_of_shell) return failure_sentence(host_, said_, how);
  if ((*exit)->code == kNotFoundStatus && !script_->has_heard() && lacks_ssh(said_)) {
    return base::format("host {} is not reached: there is no `ssh` in the folders of PATH here",
                        host_);
  }
  const std::string said = script_->noise() + script_->take_rest() + said_;
  return others_sentence(host_, said, base::format("its login shell ended it ({})", how));
}

void HostLink::down(std::string sentence, bool can_pass) {
  state_ = State::kDown;
  limit_.reset();
  readable_.reset();
  errors_readable_.reset();
  writable_.reset();
  ended_.reset();
  for (base::UniqueFd* fd : {&input_, &output_, &errors_}) fd->reset();
  out_.clear();
  out_begin_ = 0;
  if (callbacks_.on_down) callbacks_.on_down(base::unavailable(std::move(sentence)), can_pass);
}

void HostLink::finish(base::Instant deadline) {
  while (input_.valid() && unsent_bytes() > 0) {
    pollfd entry = {input_.get(), POLLOUT, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - loop_.now());
    if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) <= 0) break;
    const ssize_t put = ::write(input_.get(), out_.data() + out_begin_, unsent_bytes());
    if (put < 0 && errno != EAGAIN && errno != EINTR) break;
    if (put > 0) out_begin_ += static_cast<std::size_t>(put);
  }
  writable_.reset();
  input_.reset();
}

base::Result<> HostLink::wait_for_end(base::Instant deadline) {
  if (!ssh_ || ssh_->reaped()) return unconfirmed();
  // Only the last word of the host still counts. ssh would wait for all to be read, and
  // for whatever else the login has left there.
  std::string rest;
  while (output_.valid() && process::wait_readable(output_.get(), deadline) &&
         read_some(output_.get(), rest)) {
    frames_.add(std::exchange(rest, {}));
    const auto last = last_word();
    if (!last) continue;
    (void)ssh_->signal_group(SIGKILL);
    (void)ssh_->wait(loop_.now() + kEndLimit);
    return *last;
  }
  (void)ssh_->wait(deadline);
  return unconfirmed();
}

std::optional<base::Result<>> HostLink::last_word() {
  while (true) {
    const auto frame = frames_.next();
    if (!frame.ok() || !*frame) return std::nullopt;
    auto word = std::visit(
        base::Overloaded{[](const MessageFrame& each) { return last_word_in(each.message); },
                         [](const base::OneOf<OpenFrame, StreamFrame, LogFrame, FileFrame> auto&) {
                           return std::optional<base::Result<>>();
                         }},
        **frame);
    if (word) return word;
  }
}

}  // namespace gangrun::ssh
