#include "net/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>

#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

TEST(Workers, TheResultComesBackInTheLoop) {
  EventLoop loop;
  Workers workers(loop, 2);
  const auto loop_thread = std::this_thread::get_id();
  std::set<int> results;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(workers
                    .run(
                        [i, loop_thread] {
                          EXPECT_NE(std::this_thread::get_id(), loop_thread);
                          return std::make_unique<int>(i);
                        },
                        [&](std::unique_ptr<int> value) {
                          EXPECT_EQ(std::this_thread::get_id(), loop_thread);
                          results.insert(*value);
                        })
                    .ok());
  }
  EXPECT_TRUE(loop.run_until([&] { return results.size() == 50; }, test_deadline()));
}

TEST(Workers, WorkWithoutAValue) {
  EventLoop loop;
  Workers workers(loop, 1);
  bool done = false;
  ASSERT_TRUE(workers.run([] {}, [&] { done = true; }).ok());
  EXPECT_TRUE(loop.run_until([&] { return done; }, test_deadline()));
}

TEST(Workers, TheQueueIsBoundedAndTheDestructorWaitsOnlyForWhatRuns) {
  EventLoop loop;
  std::atomic<int> started = 0;
  int done = 0;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  auto workers = std::make_unique<Workers>(loop, 1);
  std::promise<void> running;
  ASSERT_TRUE(workers
                  ->run(
                      [&, released] {
                        ++started;
                        running.set_value();
                        released.wait();
                      },
                      [&] { ++done; })
                  .ok());
  running.get_future().wait();
  for (std::size_t i = 0; i < kMaxQueuedJobs; ++i) {
    ASSERT_TRUE(workers->run([&] { ++started; }, [&] { ++done; }).ok());
  }
  const auto refused = workers->run([&] { ++started; }, [&] { ++done; });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kResourceExhausted);
  // The running job ends only once the destructor is on its way or already waits.
  std::thread releaser([&] { release.set_value(); });
  workers.reset();
  releaser.join();
  bool later = false;
  loop.post([&] { later = true; });
  EXPECT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
  EXPECT_EQ(done, 0) << "nothing is called back after the destructor";
  EXPECT_GE(started, 1);
}

TEST(Workers, MayBeDestroyedByItsOwnCallback) {
  EventLoop loop;
  auto workers = std::make_unique<Workers>(loop, 2);
  bool done = false;
  ASSERT_TRUE(workers
                  ->run([] { return 1; },
                        [&](int) {
                          workers.reset();
                          done = true;
                        })
                  .ok());
  EXPECT_TRUE(loop.run_until([&] { return done; }, test_deadline()));
}

}  // namespace
}  // namespace gangrun::net
