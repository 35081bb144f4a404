#include "net/posts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/test_deadline.h"

namespace gangrun::net {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PostsTest : public testing::Test {
 protected:
  void run() {
    bool is_over = false;
    loop_.post([&is_over] { is_over = true; });
    ASSERT_TRUE(loop_.run_until([&is_over] { return is_over; }, base::soon()));
  }

  EventLoop loop_;
  std::vector<std::string> told_;
};

TEST_F(PostsTest, WorkIsDoneLaterInItsOrder) {
  const Posts posts(loop_);
  posts.post([this] { told_.emplace_back("one"); });
  posts.post([this] { told_.emplace_back("two"); });
  EXPECT_THAT(told_, IsEmpty());
  run();
  EXPECT_THAT(told_, ElementsAre("one", "two"));
}

TEST_F(PostsTest, WorkOfWhoIsGoneIsDropped) {
  std::optional<Posts> posts(loop_);
  posts->post([&] {
    told_.emplace_back("one");
    posts.reset();
  });
  posts->post([this] { told_.emplace_back("two"); });
  run();
  EXPECT_THAT(told_, ElementsAre("one"));
}

TEST_F(PostsTest, EventsReachTheListenerThatThereIsByThen) {
  Outbox<std::string> outbox(loop_);
  outbox.tell("one");
  outbox.on_event([this](const std::string& event) { told_.push_back(event); });
  EXPECT_THAT(told_, IsEmpty());
  run();
  EXPECT_THAT(told_, ElementsAre("one"));
}

TEST_F(PostsTest, EventsOfWhoIsGoneAreNotTold) {
  {
    Outbox<std::string> outbox(loop_);
    outbox.on_event([this](const std::string& event) { told_.push_back(event); });
    outbox.tell("one");
  }
  run();
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace gangrun::net
