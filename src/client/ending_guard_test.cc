#include "client/ending_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <condition_variable>
#include <csignal>
#include <vector>

#include "process/pipe.h"

namespace gangrun::client {
namespace {

using std::chrono::milliseconds;

// Only what nobody but us sends; SIGINT would end the tests where the guard does not hold it.
constexpr int kEnding = SIGHUP;
constexpr int kNotice = SIGUSR1;

// The guard's actions: each is awaited.
class Told {
 public:
  void signal(int number) {
    const std::lock_guard lock(mutex_);
    signals_.push_back(number);
    changed_.notify_all();
  }
  void ended(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  }
  bool wait_for_signals(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return signals_.size() >= count; });
  }
  std::optional<int> wait_for_end() {
    std::unique_lock lock(mutex_);
    (void)changed_.wait_for(lock, std::chrono::seconds(30), [&] { return status_.has_value(); });
    return status_;
  }
  std::optional<int> status() {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> signals_;
  std::optional<int> status_;
};

class EndingGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = process::make_pipe();
    ASSERT_TRUE(made.ok());
    said_ = std::move(*made);
    ASSERT_EQ(::fcntl(said_.read.get(), F_SETFL, O_NONBLOCK), 0);
  }
  void start(int last, milliseconds patience) {
    auto started = EndingGuard::start({.signals = {kEnding, kNotice},
                                       .last = last,
                                       .patience = patience,
                                       .on_signal = [this](int n) { told.signal(n); },
                                       .err = said_.write.get(),
                                       .exit = [this](int status) { told.ended(status); }});
    ASSERT_TRUE(started.ok());
    guard = std::move(*started);
  }
  static void send(int number) { ASSERT_EQ(::kill(::getpid(), number), 0); }
  std::string said() {
    std::string text(4096, '\0');
    const ssize_t got = ::read(said_.read.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  process::Pipe said_;
  Told told;
  std::unique_ptr<EndingGuard> guard;
};

// Four Ctrl-C did not end a client on YARN whose ResourceManager was away.
TEST_F(EndingGuardTest, TheSecondSignalEndsACommandOfWhichNobodyElseIsAwake) {
  start(2, milliseconds(1));
  guard->set_words("nobody could be told\nof the end");
  send(kEnding);
  ASSERT_TRUE(told.wait_for_signals(1));
  EXPECT_EQ(told.status(), std::nullopt);
  send(kEnding);
  EXPECT_EQ(told.wait_for_end(), to_int(ExitStatus::kInterrupted));
  EXPECT_EQ(said(), "gangrun: nobody could be told of the end\n");
}

TEST_F(EndingGuardTest, TheFirstOneWhereThereIsNothingToEndInOrder) {
  start(1, milliseconds(0));
  send(kEnding);
  EXPECT_EQ(told.wait_for_end(), to_int(ExitStatus::kInterrupted));
  EXPECT_EQ(said(), "");
}

TEST_F(EndingGuardTest, NoticesEndNothing) {
  start(1, milliseconds(0));
  send(kNotice);
  ASSERT_TRUE(told.wait_for_signals(1));
  send(kNotice);
  ASSERT_TRUE(told.wait_for_signals(2));
  guard.reset();
  EXPECT_EQ(told.status(), std::nullopt);
}

TEST_F(EndingGuardTest, ACommandThatIsAwakeEndsByItself) {
  start(1, std::chrono::hours(1));
  send(kEnding);
  ASSERT_TRUE(told.wait_for_signals(1));
  guard->stand_down();
  guard.reset();
  EXPECT_EQ(told.status(), std::nullopt);
}

TEST_F(EndingGuardTest, WhatHasBeenSaidIsNotSaidAgain) {
  start(2, std::chrono::hours(1));
  guard->set_words("nobody could be told");
  guard->end_within(milliseconds(1), ExitStatus::kJobFailed);
  EXPECT_EQ(told.wait_for_end(), to_int(ExitStatus::kJobFailed));
  EXPECT_EQ(said(), "");
}

TEST_F(EndingGuardTest, ALoopIsToldInItsOwnThread) {
  net::EventLoop loop;
  std::optional<std::thread::id> told_in;
  auto started = EndingGuard::start_in(loop, {.signals = {kEnding}, .on_signal = [&](int) {
                                                told_in = std::this_thread::get_id();
                                              }});
  ASSERT_TRUE(started.ok());
  send(kEnding);
  ASSERT_TRUE(
      loop.run_until([&] { return told_in.has_value(); }, loop.now() + std::chrono::seconds(30)));
  EXPECT_EQ(told_in, std::this_thread::get_id());
}

// After `fetch` had asked hosts, Ctrl-C did not end the copying.
TEST_F(EndingGuardTest, SignalsMeanWhatTheyDidBeforeWhereTheCommandGoesOn) {
  const auto is_blocked = [] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, kEnding) == 1;
  };
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, kEnding);
  // Guards of other tests have blocked it.
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  for (const bool gives_back : {true, false}) {
    auto started = EndingGuard::start({.signals = {kEnding}, .gives_back = gives_back});
    ASSERT_TRUE(started.ok());
    EXPECT_TRUE(is_blocked());
    started->reset();
    EXPECT_EQ(is_blocked(), !gives_back);
  }
}

TEST_F(EndingGuardTest, AReaderThatTakesNothingKeepsNobodyHere) {
  ASSERT_EQ(::fcntl(said_.write.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string block(4096, 'x');
  while (::write(said_.write.get(), block.data(), block.size()) > 0) {
  }
  ASSERT_EQ(::fcntl(said_.write.get(), F_SETFL, 0), 0);
  start(1, milliseconds(0));
  guard->set_words("nobody reads this");
  send(kEnding);
  EXPECT_EQ(told.wait_for_end(), to_int(ExitStatus::kInterrupted));
}

}  // namespace
}  // namespace gangrun::client
