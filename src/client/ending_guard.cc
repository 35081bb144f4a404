#include "client/ending_guard.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "process/signals.h"

namespace gangrun::client {

namespace {

// The bytes that a pipe takes without waiting, if it can be written.
constexpr std::size_t kMaxWords = 2048;

// Never waits for whoever reads it.
void say(int fd, const std::string& words) {
  pollfd writable{fd, POLLOUT, 0};
  if (::poll(&writable, 1, 0) != 1 || (writable.revents & POLLOUT) == 0) return;
  const std::string line =
      "gangrun: " + base::harmless_sentence(base::shorten(words, kMaxWords)) + "\n";
  (void)!::write(fd, line.data(), line.size());
}

}  // namespace

EndingGuard::EndingGuard(Private, Options options, const sigset_t& before, base::UniqueFd signals,
                         base::UniqueFd wake)
    : options_(std::move(options)),
      before_(before),
      signals_(std::move(signals)),
      wake_(std::move(wake)) {}

base::Result<std::unique_ptr<EndingGuard>> EndingGuard::start(Options options) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  for (const int signal : options.signals) sigaddset(&set, signal);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, &before); error != 0) {
    return base::from_errno(error, "block signals");
  }
  base::UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return base::from_errno(errno, "watch signals");
  base::UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return base::from_errno(errno, "watch signals");
  auto guard = std::make_unique<EndingGuard>(Private{}, std::move(options), before,
                                             std::move(signals), std::move(wake));
  sigset_t all;
  sigset_t own;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  base::Result<std::unique_ptr<EndingGuard>> started(nullptr);
  try {
    guard->thread_ = std::thread([own = guard.get()] { own->serve(); });
    started = std::move(guard);
  } catch (const std::system_error& error) {
    started = base::Error{base::Code::kResourceExhausted,
                          std::string("no thread for signals can be started: ") + error.what()};
  }
  pthread_sigmask(SIG_SETMASK, &own, nullptr);
  return started;
}

base::Result<std::unique_ptr<EndingGuard>> EndingGuard::start_in(net::EventLoop& loop,
                                                                 Options options) {
  options.on_signal = [&loop, told = std::move(options.on_signal)](int number) {
    loop.post([told, number] { told(number); });
  };
  return start(std::move(options));
}

EndingGuard::~EndingGuard() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
  if (options_.gives_back) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void EndingGuard::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void EndingGuard::set_words(std::string words) {
  const std::lock_guard lock(mutex_);
  words_ = std::move(words);
}

void EndingGuard::stand_down() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void EndingGuard::end_within(std::chrono::milliseconds limit, ExitStatus status) {
  {
    const std::lock_guard lock(mutex_);
    words_.clear();
    status_ = to_int(status);
    deadline_ = std::chrono::steady_clock::now() + limit;
  }
  wake();
}

std::optional<base::Instant> EndingGuard::deadline() {
  const std::lock_guard lock(mutex_);
  return deadline_;
}

void EndingGuard::serve() {
  while (true) {
    int timeout_ms = -1;
    if (const auto limit = deadline()) {
      const auto left = *limit - std::chrono::steady_clock::now();
      if (left <= base::Duration::zero()) return end_command();
      timeout_ms = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    pollfd ready[] = {{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(ready, 2, timeout_ms) < 0 && errno != EINTR) return;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
    }
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      on_signal(static_cast<int>(info.ssi_signo));
    }
  }
}

void EndingGuard::on_signal(int number) {
  if (!process::is_notice(number)) {
    const std::lock_guard lock(mutex_);
    if (++seen_ >= options_.last && !deadline_) {
      deadline_ = std::chrono::steady_clock::now() + options_.patience;
    }
  }
  if (options_.on_signal) options_.on_signal(number);
}

void EndingGuard::end_command() {
  std::string words;
  int status = 0;
  {
    const std::lock_guard lock(mutex_);
    words = words_;
    status = status_;
  }
  if (!words.empty()) say(options_.err, words);
  options_.exit(status);
}

}  // namespace gangrun::client
