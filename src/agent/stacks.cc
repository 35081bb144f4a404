#include "agent/stacks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <future>
#include <iterator>
#include <optional>
#include <utility>

#include "agent/image_run.h"
#include "base/described_json.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "base/unique_fd.h"
#include "cluster/question.h"
#include "process/engine.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/stack_look.h"

namespace gangrun::agent {

namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";
// The limit for the processes of a task, or of a container of it; only the first ones are examined.
constexpr std::size_t kMaxProcesses = 64;
// The argument before an engine and the names of its containers, in place of processes.
constexpr std::string_view kInContainers = "in";
constexpr pid_t kFirstProcess = 1;  // of a container, which is ours
// Whether a Python stack is enough, or a native one is wanted beside it.
constexpr std::string_view kOneStack = "one";
constexpr std::string_view kAllStacks = "all";
// The time that a looking process, or an engine, may take to start and to hand on what it has seen:
// this part of all the time, at least kLeastAllowance, at most half of it. A host where a look
// takes long starts it slowly too.
constexpr int kAllowedPart = 5;
constexpr std::chrono::seconds kLeastAllowance(1);
// The time that a looking process has left, at most, when it looks no longer.
constexpr std::chrono::milliseconds kTelling(200);
// So long after its answer, programs that read stacks may let their processes go.
constexpr std::chrono::milliseconds kCleaning(500);
// A looking process that has answered is killed after this time.
constexpr std::chrono::seconds kLeaving(10);

using std::chrono::milliseconds;

milliseconds without_allowance(milliseconds limit) {
  const milliseconds allowance = std::max<milliseconds>(limit / kAllowedPart, kLeastAllowance);
  return std::max({limit - allowance, limit / 2, milliseconds(1)});
}

// The reason for a look that more time may help.
std::string late_words(milliseconds asked, std::string_view why = {}) {
  return base::format("not looked at within {}{}{}; allow more with --timeout",
                      base::to_words(asked), why.empty() ? "" : ": ", why);
}

// The hidden command's order, without the processes.
struct Order {
  milliseconds limit{};  // within which it prints what it has seen
  milliseconds asked{};  // as whoever asks has allowed it
  process::StackQuestion question{};

  [[nodiscard]] std::vector<std::string> words() const {
    return {std::string(kLookCommand), std::to_string(limit.count()), std::to_string(asked.count()),
            std::string(question.is_one_enough ? kOneStack : kAllStacks)};
  }
};
constexpr std::ptrdiff_t kOrderWords = 3;  // behind the command

std::optional<milliseconds> time_of(const std::string& word) {
  const auto number = base::parse_integer(word);
  if (!number || *number <= 0) return std::nullopt;
  return milliseconds(*number);
}

std::optional<Order> order_of(const std::vector<std::string>& arguments) {
  if (std::ssize(arguments) < kOrderWords) return std::nullopt;
  const auto limit = time_of(arguments[0]);
  const auto asked = time_of(arguments[1]);
  const bool is_one = arguments[2] == kOneStack;
  if (!limit || !asked || (!is_one && arguments[2] != kAllStacks)) return std::nullopt;
  return Order{.limit = *limit, .asked = *asked, .question = {.is_one_enough = is_one}};
}

using Looks = process::StackLooks<>;

// The look at a process or a container, beside the others: one that hangs takes its own time only.
struct Work {
  std::future<Looks> looks;
  process::StackLook instead{};  // without an answer in time
};

struct Works {
  std::vector<Work> all{};
  int not_shown = 0;
};

Looks look_at(process::StackLook glance, base::Instant deadline, const Order& order) {
  process::StackLook look = process::look_at_stack(std::move(glance), deadline, order.question);
  if (look.is_late) look.trouble = late_words(order.asked, look.trouble);
  return {.processes = {std::move(look)}};
}

Works begin_looks(std::vector<pid_t> pids, base::Instant deadline, const Order& order) {
  Works works;
  if (pids.size() > kMaxProcesses) {
    works.not_shown = static_cast<int>(pids.size() - kMaxProcesses);
    pids.resize(kMaxProcesses);
  }
  for (const pid_t pid : pids) {
    process::StackLook glance = process::glance_at(pid);
    auto looks = std::async(std::launch::async, look_at, glance, deadline, order);
    if (glance.trouble.empty()) glance.trouble = late_words(order.asked);
    works.all.push_back({std::move(looks), std::move(glance)});
  }
  return works;
}

base::Result<Looks> ask_inside(const std::string& engine, const std::string& container,
                               base::Instant deadline, Order order) {
  const auto left =
      std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
  order.limit = without_allowance(left);
  process::EngineQuestion question{.argv = {engine, "exec", container, std::string(kFirstProgram)},
                                   .max_bytes = cluster::kMaxSaidBytes};
  std::ranges::move(order.words(), std::back_inserter(question.argv));
  GANGRUN_ASSIGN(const auto answer, process::ask(question, deadline));
  if (answer.status != 0) {
    return base::unavailable(base::their_words(base::trim(answer.output)));
  }
  GANGRUN_ASSIGN(const auto json, base::parse_json(answer.output, cluster::kMaxSaidBytes));
  return base::from_json<Looks>(json);
}

// A container that cannot be examined is told as if it were a process.
Looks look_inside(const std::string& engine, const std::string& container, base::Instant deadline,
                  const Order& order) {
  const auto inside = ask_inside(engine, container, deadline, order);
  if (inside.ok()) return *inside;
  const bool is_late = inside.error().code == base::Code::kDeadlineExceeded;
  const std::string& why = inside.error().message;
  return {{{.name = container, .trouble = is_late ? late_words(order.asked, why) : why}}};
}

Works begin_inside(const std::string& engine, const std::vector<std::string>& containers,
                   base::Instant deadline, const Order& order) {
  Works works;
  for (const std::string& container : containers) {
    works.all.push_back(
        {std::async(std::launch::async, look_inside, engine, container, deadline, order),
         {.name = container,
          .trouble =
              late_words(order.asked, base::format("{} exec did not answer in time", engine))}});
  }
  return works;
}

// None: the words are not those of the command.
std::optional<Works> begin_all(const std::vector<std::string>& which, base::Instant deadline,
                               const Order& order) {
  if (which.size() > 2 && which[0] == kInContainers) {
    return begin_inside(which[1], {which.begin() + 2, which.end()}, deadline, order);
  }
  std::vector<pid_t> pids;
  for (const std::string& word : which) {
    const auto pid = base::parse_integer(word);
    if (!pid || *pid <= 0) return std::nullopt;
    pids.push_back(static_cast<pid_t>(*pid));
  }
  if (pids.empty()) pids = process::descendants_of(kFirstProcess);
  return begin_looks(std::move(pids), deadline, order);
}

void drop_texts(process::StackLook& look) {
  look.python.clear();
  look.native.clear();
  look.kernel.clear();
  look.trouble = "the stacks of the task's processes are too long together";
}

// All that is there at `deadline`. A look without an answer goes on, and its `looks` stay valid.
Looks gathered(Works& works, base::Instant deadline) {
  Looks seen{.not_shown = works.not_shown};
  std::size_t bytes = 0;
  for (Work& work : works.all) {
    const bool is_there = work.looks.wait_until(deadline) == std::future_status::ready;
    Looks looks = is_there ? work.looks.get() : Looks{.processes = {std::move(work.instead)}};
    seen.not_shown += looks.not_shown;
    for (process::StackLook& look : looks.processes) {
      bytes += base::dump_json(base::to_json(look)).size();
      if (bytes > cluster::kMaxSaidBytes / 2) drop_texts(look);
      seen.processes.push_back(std::move(look));
    }
  }
  return seen;
}

// Whoever reads our output has the answer then.
void close_output() {
  const base::UniqueFd none(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (none.valid()) (void)::dup2(none.get(), STDOUT_FILENO);
}

// It may wait in the kernel for the process that it looks at: nobody waits for it then, and whoever
// reaps orphans reaps it.
void end_look(process::Child& child) {
  (void)child.signal_group(SIGKILL);
  (void)child.reap();
}

}  // namespace

void Stacks::look(milliseconds limit, const base::Json& about, Reply reply) {
  if (look_) {
    return reply(base::unavailable("somebody else looks at its stacks now"));
  }
  const auto question = base::from_json<process::StackQuestion>(about);
  if (!question.ok()) return reply(question.error());
  const std::vector<pid_t> pids = processes_();
  if (pids.empty()) {
    return reply(base::Error{base::Code::kFailedPrecondition, "no process of it runs"});
  }
  auto pipe = process::make_pipe();
  if (!pipe.ok()) return reply(pipe.error());
  process::SpawnOptions options;
  const Order order{.limit = without_allowance(limit), .asked = limit, .question = *question};
  options.argv = {kOwnProgram};
  std::ranges::move(order.words(), std::back_inserter(options.argv));
  if (const auto& containers = containment_.containers(); !containers.empty()) {
    // The engine's clients are all that runs here.
    options.argv.insert(options.argv.end(), {std::string(kInContainers), containers.engine});
    std::ranges::copy(containers.names, std::back_inserter(options.argv));
  } else {
    for (const pid_t pid : pids) options.argv.push_back(std::to_string(pid));
  }
  options.environment = process::inherited_environment();
  options.standard_output = pipe->write.get();
  containment_.confine(options);
  auto child = process::spawn(options);
  if (!child.ok()) return reply(child.error());
  look_.emplace(Look{*std::move(child), std::move(pipe->read), std::move(reply)});
  look_->readable = loop_.watch_readable(look_->output.get(), [this] { read(); });
  // Before whoever asks gives up, so that he learns the reason.
  look_->limit = loop_.after((order.limit + limit) / 2,
                             [this, limit] { finish(base::deadline_exceeded(late_words(limit))); });
}

std::vector<pid_t> Stacks::own_children() const {
  std::vector<pid_t> children;
  for (const Leaving& leaving : leaving_) children.push_back(leaving.child.pid());
  if (look_) children.push_back(look_->child.pid());
  return children;
}

void Stacks::read() {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(look_->output.get(), buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got > 0 && look_->text.size() < cluster::kMaxSaidBytes) {
    look_->text.append(buffer.data(), static_cast<std::size_t>(got));
    return;
  }
  if (look_->text.empty()) {
    return finish(base::unavailable("it has ended, or what looked at it was killed"));
  }
  finish(base::parse_json(look_->text, cluster::kMaxSaidBytes).context("what was seen"));
}

void Stacks::finish(base::Result<base::Json> said) {
  const Reply reply = std::move(look_->reply);
  const auto leaving = leaving_.insert(leaving_.end(), Leaving{std::move(look_->child)});
  look_.reset();
  leaving->ended = loop_.watch_readable(leaving->child.end_fd(), [this, leaving] { end(leaving); });
  leaving->limit = loop_.after(kLeaving, [this, leaving] { end(leaving); });
  reply(std::move(said));
}

void Stacks::end(std::list<Leaving>::iterator leaving) {
  end_look(leaving->child);
  leaving_.erase(leaving);
}

Stacks::~Stacks() {
  if (look_) end_look(look_->child);
  for (Leaving& leaving : leaving_) end_look(leaving.child);
}

int run_look(const std::vector<std::string>& arguments) {
  const base::Instant begun = std::chrono::steady_clock::now();
  const auto order = order_of(arguments);
  if (!order) return 2;
  const base::Instant end = begun + order->limit;
  auto works = begin_all({arguments.begin() + kOrderWords, arguments.end()},
                         end - std::min(kTelling, order->limit / 10), *order);
  if (!works) return 2;
  std::fputs(base::dump_json(base::to_json(gathered(*works, end))).c_str(), stdout);
  const int status = std::fflush(stdout) == 0 ? 0 : 1;
  const auto looks = [](const Work& work) { return work.looks.valid(); };
  if (std::ranges::none_of(works->all, looks)) return status;
  close_output();
  const base::Instant limit = std::chrono::steady_clock::now() + kCleaning;
  const auto goes_on = [&](const Work& work) {
    return looks(work) && work.looks.wait_until(limit) != std::future_status::ready;
  };
  // A thread may hang in the kernel.
  if (std::ranges::any_of(works->all, goes_on)) ::_exit(status);
  return status;
}

}  // namespace gangrun::agent
