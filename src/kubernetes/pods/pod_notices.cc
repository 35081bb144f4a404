#include "kubernetes/pods/pod_notices.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "job/spec_names.h"

namespace gangrun::kubernetes::pods {

namespace {

constexpr std::size_t kMaxAnswerBytes = std::size_t{4} << 10U;
constexpr std::size_t kMaxReasonBytes = 300;
constexpr std::size_t kNamedTasks = 5;
// Exit statuses of a shell: the program is not there, or cannot be run.
constexpr int kNoProgram = 127;
constexpr int kCannotRun = 126;
constexpr int kKilled = base::kSignalStatus + 9;
constexpr int kCouldNotSignal = 4;
constexpr std::string_view kNeeds = "its image needs sh and mv for a notice";

// Words: the file, what it says, then the signal's name, the place of its bit in SigCgt, and /proc.
// With no signal it ends when the file is there. The file is there whole or not at all.
//
// It looks at processes of this container only: pods may share their processes, or have those of
// their node. Its command is process 1, or else the oldest of the container's own, which our shell
// is not. Whose children are whose is read first, then who has a handler: a child that has
// inherited one has a parent that is seen to have it.
constexpr const char* kNoticeScript = R"sh(
umask 022
printf '%s' "$1" >"$0.new" && mv -f "$0.new" "$0" || exit 3
echo written
[ $# -gt 1 ] || exit 0
group() {
  g=
  {
    while read -r line; do
      g="$g$line;"
    done <"$proc/$1/cgroup"
  } 2>/dev/null
}
field() {
  f=
  {
    while read -r key value rest; do
      [ "$key" != "$2" ] || f=$value
    done <"$proc/$1/status"
  } 2>/dev/null
}
proc=$4
group self
own=$g
group 1
root=
[ "$g" != "$own" ] || root=1
below=
for folder in "$proc"/[0-9]*; do
  p=${folder##*/}
  field "$p" PPid:
  below="$below $f:$p"
  [ "$root" != 1 ] && [ "$p" != $$ ] || continue
  group "$p"
  [ "$g" = "$own" ] || continue
  [ -n "$root" ] && [ "$root" -lt "$p" ] || root=$p
done
while [ -n "$root" ]; do
  next=
  for p in $root; do
    field "$p" SigCgt:
    [ -n "$f" ] || continue
    if [ $((0x${f#"${f%????}"} >> $3 & 1)) = 1 ]; then
      echo "signal $p"
      kill -s "$2" "$p" || [ ! -e "$proc/$p" ] || exit 4
    else
      for pair in $below; do
        [ "${pair%:*}" != "$p" ] || next="$next ${pair#*:}"
      done
    fi
  done
  root=$next
done
)sh";

std::string_view limited(std::string_view piece, std::size_t has) {
  return piece.substr(0, kMaxAnswerBytes - std::min(kMaxAnswerBytes, has));
}

// By the words of containers' runtimes. What they say besides differs from pod to pod.
bool lacks_program(std::string_view message) {
  return message.find("executable file not found") != std::string_view::npos ||
         message.find("no such file or directory") != std::string_view::npos;
}

std::string reason_for(const base::Error& error) {
  if (lacks_program(error.message)) return std::string(kNeeds);
  if (error.code == base::Code::kNotFound) return "its pod is gone";
  if (error.code == base::Code::kDeadlineExceeded) {
    return base::format("its pod did not answer within {}", base::to_words(kNoticeLimit));
  }
  // The rest of what the server says names the pod.
  const bool is_forbidden = error.code == base::Code::kPermissionDenied;
  const std::size_t end = is_forbidden ? error.message.find(" (") : std::string::npos;
  return base::shorten(error.message.substr(0, end), kMaxReasonBytes);
}

std::string reason_for(int status, std::string_view errors) {
  if (status == kNoProgram || status == kCannotRun) return std::string(kNeeds);
  const std::string_view said = base::trim(errors);
  return base::format("the command for it exited with status {}{}{}", status,
                      said.empty() ? "" : ": ", base::shorten(said, kMaxReasonBytes));
}

std::string names_of(const std::vector<job::TaskId>& tasks) {
  const auto name = [](const job::TaskId& task) { return job::to_string(task); };
  std::string text = base::first_and_more(tasks, kNamedTasks, name);
  return tasks.size() > kNamedTasks ? text + " tasks" : text;
}

}  // namespace

std::vector<std::string> notice_command(const std::string& file, job::NoticeSignal signal,
                                        const std::string& proc) {
  std::vector<std::string> command = {"sh", "-c", kNoticeScript, file, R"({"reason":"signal"})"};
  if (const int number = job::number_of(signal); number != 0) {
    command.emplace_back(job::to_string(signal));
    command.push_back(base::format("{}", number - 1));
    command.push_back(proc);
  }
  return command;
}

NoticeAnswer notice_answer(std::string_view output, std::string_view errors,
                           const base::Result<int>& end) {
  NoticeAnswer answer;
  bool is_written = false;
  for (const std::string& line : base::split(output, '\n')) {
    is_written = is_written || line == kNoticeWritten;
    if (line.starts_with(kNoticeSignal)) ++answer.signals;
  }
  if (end.ok() && *end == 0) return answer;
  // A command that ends when it is told takes its container along, and what runs in it.
  const bool was_refused = end.ok() && *end == kCouldNotSignal;
  const bool was_killed = end.ok() && *end == kKilled;
  if ((answer.signals > 0 && !was_refused) || (is_written && was_killed)) return answer;
  if (was_refused) --answer.signals;
  answer.reason = end.ok() ? reason_for(*end, errors) : reason_for(end.error());
  return answer;
}

PodNotices::PodNotices(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                       const Manifests& manifests, OnDone on_done)
    : loop_(loop),
      posts_(loop),
      logger_(logger),
      client_(client),
      manifests_(manifests),
      on_done_(std::move(on_done)) {}

void PodNotices::give(const std::vector<job::TaskId>& tasks, const std::string& by) {
  for (const job::TaskId& task : tasks) {
    auto& asked = asked_[task];
    if (asked != nullptr) continue;
    asked = std::make_unique<Asked>();
    asked->by = by;
    waiting_.push_back(task);
  }
  ask_next();
  if (!asked_.empty()) return;
  posts_.post([this] { finish(); });
}

void PodNotices::give(const std::vector<job::TaskId>& tasks, const std::string& by,
                      std::chrono::milliseconds limit, OnTold on_told) {
  const std::uint64_t id = next_listener_++;
  if (!tasks.empty()) {
    Listener& listener = listeners_[id];
    listener.tasks = {tasks.begin(), tasks.end()};
    listener.on_told = std::move(on_told);
    listener.limit = loop_.after(limit, [this, id, limit] {
      give_up(id, base::deadline_exceeded(
                      base::format("its pod was not told within {}", base::to_words(limit))));
    });
  }
  give(tasks, by);
}

void PodNotices::clear() {
  waiting_.clear();
  asked_.clear();
  failed_.clear();
  under_way_ = 0;
  while (!listeners_.empty()) {
    give_up(listeners_.begin()->first, {base::Code::kCancelled, "the pods of its job are removed"});
  }
}

void PodNotices::give_up(std::uint64_t listener, const base::Error& error) {
  const auto ended = listeners_.extract(listener);
  for (const job::TaskId& task : ended.mapped().tasks) ended.mapped().on_told(task, error);
}

void PodNotices::tell(const job::TaskId& task, const base::Result<>& outcome) {
  std::vector<OnTold> told;
  for (auto& [id, listener] : listeners_) {
    if (listener.tasks.erase(task) > 0) told.push_back(listener.on_told);
  }
  std::erase_if(listeners_, [](const auto& one) { return one.second.tasks.empty(); });
  for (const OnTold& on_told : told) on_told(task, outcome);
}

void PodNotices::ask_next() {
  while (!waiting_.empty() && under_way_ < kMaxNoticesAtOnce) {
    const job::TaskId task = waiting_.front();
    waiting_.pop_front();
    ++under_way_;
    ask(task);
  }
}

void PodNotices::ask(const job::TaskId& task) {
  Asked& it = *asked_.at(task);
  kubernetes::ExecRequest request;
  request.name_space = manifests_.input().name_space;
  request.pod = manifests_.pod_name(task);
  request.container = manifests_.container_of(task);
  request.command = notice_command(kPodNoticeFile, manifests_.input().spec.notice_signal);
  kubernetes::ExecCallbacks callbacks;
  callbacks.on_output = [&it](std::string_view piece) {
    it.output += limited(piece, it.output.size());
  };
  callbacks.on_errors = [&it](std::string_view piece) {
    it.errors += limited(piece, it.errors.size());
  };
  // Its end must not end it while it calls.
  callbacks.on_end = [this, task, asked = &it](base::Result<int> end) {
    posts_.post([this, task, asked, end = std::move(end)] {
      const auto found = asked_.find(task);
      if (found != asked_.end() && found->second.get() == asked) on_ended(task, end);
    });
  };
  it.activity = client_.exec(std::move(request), loop_.now() + kNoticeLimit, std::move(callbacks));
}

void PodNotices::on_ended(const job::TaskId& task, const base::Result<int>& end) {
  const std::unique_ptr<Asked> asked = std::move(asked_.at(task));
  asked_.erase(task);
  --under_way_;
  const NoticeAnswer answer = notice_answer(asked->output, asked->errors, end);
  if (answer.reason.empty()) {
    logger_.info("{}: {} has its notice; {} of its processes got the signal for it", asked->by,
                 job::to_string(task), answer.signals);
    tell(task, {});
  } else {
    fail(task, asked->by, answer.reason);
  }
  // It is the same for the others: thousands of them need not ask for what is forbidden.
  if (!end.ok() && end.error().code == base::Code::kPermissionDenied) {
    for (const job::TaskId& other : std::exchange(waiting_, {})) {
      fail(other, asked_.at(other)->by, answer.reason);
      asked_.erase(other);
    }
  }
  ask_next();
  finish();
}

void PodNotices::fail(const job::TaskId& task, const std::string& by, const std::string& reason) {
  failed_[{by, reason}].push_back(task);
  tell(task, base::Error{base::Code::kFailedPrecondition, reason});
}

void PodNotices::finish() {
  if (!asked_.empty()) return;
  std::vector<std::string> sentences;
  for (auto& [why, tasks] : std::exchange(failed_, {})) {
    std::ranges::sort(tasks);
    const auto& [by, reason] = why;
    sentences.push_back(base::format("{}: no notice for {}: {}", by, names_of(tasks), reason));
  }
  on_done_(std::move(sentences));
}

}  // namespace gangrun::kubernetes::pods
