#include "agent/frame_pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "base/test_deadline.h"
#include "process/pipe.h"

namespace gangrun::agent {
namespace {

using testing::ElementsAre;

TEST(FramePipe, WhatOneSideSendsTheOtherGetsWholeAndInOrder) {
  net::EventLoop loop;
  auto there = process::make_pipe();
  auto back = process::make_pipe();
  ASSERT_TRUE(there.ok() && back.ok());
  std::vector<std::size_t> sizes;
  bool has_ended = false;
  FramePipe left(loop, std::move(back->read), std::move(there->write), {[](auto) {}, [](auto) {}});
  FramePipe right(loop, std::move(there->read), std::move(back->write),
                  {[&](std::string_view frame) { sizes.push_back(frame.size()); },
                   [&](const base::Result<>& how) { has_ended = how.ok(); }});
  left.send("a");
  left.send(std::string(1'000'000, 'b'));
  bool is_sent = false;
  left.when_sent([&] {
    is_sent = true;
    left.close_out();
  });
  EXPECT_FALSE(is_sent) << "more than a pipe holds";
  EXPECT_GT(left.queued(), 0U);
  EXPECT_TRUE(loop.run_until([&] { return has_ended; }, base::soon()));
  EXPECT_TRUE(is_sent);
  EXPECT_THAT(sizes, ElementsAre(1, 1'000'000));
}

TEST(FramePipe, AnEndOfTheOtherSideIsNoErrorToWriteTo) {
  net::EventLoop loop;
  auto there = process::make_pipe();
  auto back = process::make_pipe();
  ASSERT_TRUE(there.ok() && back.ok());
  bool has_ended = false;
  FramePipe left(loop, std::move(back->read), std::move(there->write),
                 {[](auto) {}, [&](const base::Result<>& how) { has_ended = how.ok(); }});
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  there->read.reset();
  back->write.reset();
  left.send("nobody reads this");
  EXPECT_TRUE(loop.run_until([&] { return has_ended; }, base::soon()));
  ::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace gangrun::agent
