#include "net/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>

#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::ElementsAre;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  void put() const { EXPECT_EQ(::write(write.get(), "x", 1), 1); }
  void take() const {
    char c = 0;
    EXPECT_EQ(::read(read.get(), &c, 1), 1);
  }
  base::UniqueFd read;
  base::UniqueFd write;
};

TEST(EventLoop, TimersRunInTheOrderOfTheirInstants) {
  EventLoop loop;
  std::vector<int> order;
  const auto start = loop.now();
  Timer third = loop.at(start + milliseconds(9), [&] { order.push_back(3); });
  Timer first = loop.at(start + milliseconds(3), [&] { order.push_back(1); });
  Timer second = loop.at(start + milliseconds(6), [&] { order.push_back(2); });
  ASSERT_TRUE(loop.run_until([&] { return order.size() == 3; }, test_deadline()));
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_GE(loop.now(), start + milliseconds(9));
  EXPECT_FALSE(first.pending());
}

TEST(EventLoop, ADestroyedTimerNeverRunsEvenIfItIsDue) {
  EventLoop loop;
  bool ran = false;
  auto held = std::make_shared<int>(1);
  Timer victim;
  // Both are due when the loop first looks, so the victim's expiry has already been queued.
  const auto due = loop.now();
  Timer killer = loop.at(due - milliseconds(1), [&] { victim.reset(); });
  victim = loop.at(due, [&ran, held] { ran = true; });
  bool later = false;
  Timer end = loop.after(milliseconds(5), [&] { later = true; });
  ASSERT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1) << "what a cancelled callback holds is let go";
}

TEST(EventLoop, ATimerMayReplaceAndDestroyItselfInItsCallback) {
  EventLoop loop;
  int runs = 0;
  std::optional<Timer> timer;
  std::function<void()> again = [&] {
    if (++runs < 3) {
      timer = loop.after(milliseconds(0), again);
    } else {
      timer.reset();
    }
  };
  timer = loop.after(milliseconds(0), again);
  EXPECT_TRUE(loop.run_until([&] { return runs == 3; }, test_deadline()));
}

TEST(EventLoop, PostsFromAnotherThreadArriveInOrder) {
  EventLoop loop;
  std::vector<int> order;
  run_beside(loop, [&] {
    for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
  });
  loop.run_until([&] { return order.size() == 100; }, test_deadline());
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(EventLoop, AStopBeforeRunIsNotLost) {
  EventLoop loop;
  loop.stop();
  loop.run();
  bool ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, RunUntilEndsAtItsDeadline) {
  EventLoop loop;
  EXPECT_FALSE(loop.run_until([] { return false; }, loop.now() + milliseconds(5)));
}

TEST(EventLoop, AWatchIsLevelTriggered) {
  EventLoop loop;
  const Pipe pipe;
  int calls = 0;
  pipe.put();
  // Nothing is taken in the first two calls: it must be called again all the same.
  Watch watch = loop.watch_readable(pipe.read.get(), [&] {
    if (++calls == 3) pipe.take();
  });
  ASSERT_TRUE(loop.run_until([&] { return calls == 3; }, test_deadline()));
  bool later = false;
  Timer end = loop.after(milliseconds(5), [&] { later = true; });
  ASSERT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
  EXPECT_EQ(calls, 3);
  pipe.put();
  EXPECT_TRUE(loop.run_until([&] { return calls == 4; }, test_deadline()));
}

TEST(EventLoop, AWatchMayBeDestroyedInItsCallbackAndItsDescriptorClosed) {
  EventLoop loop;
  auto pipe = std::make_unique<Pipe>();
  pipe->put();
  int calls = 0;
  std::optional<Watch> watch = loop.watch_readable(pipe->read.get(), [&] {
    ++calls;
    watch.reset();
    pipe.reset();
  });
  bool later = false;
  Timer end = loop.after(milliseconds(5), [&] { later = true; });
  ASSERT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
  EXPECT_EQ(calls, 1);
  // The same number again: the new descriptor is watched, not the old one.
  const Pipe next;
  next.put();
  int next_calls = 0;
  Watch next_watch = loop.watch_readable(next.read.get(), [&] {
    ++next_calls;
    next.take();
  });
  EXPECT_TRUE(loop.run_until([&] { return next_calls == 1; }, test_deadline()));
}

TEST(EventLoop, AWatchThatIsReadyButDestroyedByAnotherNeverRuns) {
  EventLoop loop;
  const Pipe first;
  const Pipe second;
  first.put();
  second.put();
  int calls = 0;
  Watch a;
  Watch b;
  // Both are ready: whichever runs first ends the other.
  a = loop.watch_readable(first.read.get(), [&] {
    ++calls;
    first.take();
    b.reset();
  });
  b = loop.watch_readable(second.read.get(), [&] {
    ++calls;
    second.take();
    a.reset();
  });
  bool later = false;
  Timer end = loop.after(milliseconds(5), [&] { later = true; });
  ASSERT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, SeveralWatchesOfOneDescriptor) {
  EventLoop loop;
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  const base::UniqueFd a(ends[0]);
  const base::UniqueFd b(ends[1]);
  bool readable = false;
  bool writable = false;
  Watch read = loop.watch_readable(a.get(), [&] {
    readable = true;
    read.reset();
  });
  Watch write = loop.watch_writable(a.get(), [&] {
    writable = true;
    write.reset();
  });
  ASSERT_TRUE(loop.run_until([&] { return writable; }, test_deadline()));
  EXPECT_FALSE(readable);
  ASSERT_EQ(::write(b.get(), "x", 1), 1);
  EXPECT_TRUE(loop.run_until([&] { return readable; }, test_deadline()));
}

TEST(EventLoop, TheEndOfAPipeIsReadable) {
  EventLoop loop;
  Pipe pipe;
  pipe.write.reset();
  bool called = false;
  Watch watch = loop.watch_readable(pipe.read.get(), [&] {
    called = true;
    watch.reset();
  });
  EXPECT_TRUE(loop.run_until([&] { return called; }, test_deadline()));
}

TEST(EventLoop, ARegularFileIsAlwaysReady) {
  EventLoop loop;
  const base::UniqueFd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  int calls = 0;
  Watch watch = loop.watch_readable(fd.get(), [&] {
    if (++calls == 2) watch.reset();
  });
  EXPECT_TRUE(loop.run_until([&] { return calls == 2; }, test_deadline()));
}

TEST(EventLoop, SignalsArriveAsCallbacks) {
  EventLoop loop;
  std::vector<int> signals;
  auto watch = loop.watch_signals({SIGUSR1, SIGUSR2}, [&](int signal) {
    signals.push_back(signal);
    if (signals.size() == 1) ::raise(SIGUSR2);
  });
  ASSERT_TRUE(watch.ok());
  ::raise(SIGUSR1);
  ASSERT_TRUE(loop.run_until([&] { return signals.size() == 2; }, test_deadline()));
  EXPECT_THAT(signals, ElementsAre(SIGUSR1, SIGUSR2));
}

TEST(EventLoop, ALoopMayGoWithWorkStillQueued) {
  auto held = std::make_shared<int>(1);
  {
    EventLoop loop;
    loop.post([held] {});
    Timer inside = loop.after(base::seconds(60), [held] {});
    loop.post([moved = std::make_shared<Timer>(std::move(inside))] {});
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace gangrun::net
