#include "ssh/node/log_follower.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace gangrun::ssh::node {
namespace {

class LogFollowerTest : public testing::Test {
 protected:
  LogFollowerTest() {
    std::string text = "/tmp/gangrun-follower-XXXXXX";
    folder_ = ::mkdtemp(text.data());
  }
  ~LogFollowerTest() override { std::filesystem::remove_all(folder_); }

  void append(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::app) << text;
  }

  std::string folder_;
  std::map<std::pair<std::uint32_t, bool>, std::string> told_;
  std::size_t frames_ = 0;
  LogFollower follower_{[this](const ssh::LogFrame& frame) {
    ++frames_;
    std::string& text = told_[{frame.agent, frame.is_error}];
    // Each begins where the one before it has ended.
    EXPECT_GE(frame.offset, text.size());
    text.resize(frame.offset, '?');
    text += frame.content;
  }};
};

TEST_F(LogFollowerTest, TellsWhatIsAppended) {
  follower_.add(1, folder_ + "/w-0.1", 0, 0);
  EXPECT_TRUE(follower_.tell(100));
  EXPECT_TRUE(follower_.is_told(1));
  append("w-0.1.out", "one\n");
  append("w-0.1.err", "two\n");
  EXPECT_FALSE(follower_.is_told(1));
  EXPECT_TRUE(follower_.tell(100));
  append("w-0.1.out", "three\n");
  EXPECT_TRUE(follower_.tell(100));
  EXPECT_EQ((told_[{1, false}]), "one\nthree\n");
  EXPECT_EQ((told_[{1, true}]), "two\n");
  EXPECT_TRUE(follower_.is_told(1));
}

TEST_F(LogFollowerTest, GoesOnFromWhereAnotherOneWas) {
  append("w-0.1.out", "0123456789");
  follower_.add(1, folder_ + "/w-0.1", 7, 0);
  EXPECT_TRUE(follower_.tell(100));
  EXPECT_EQ((told_[{1, false}]), "???????789");
}

TEST_F(LogFollowerTest, TellsNoMoreThanIsAskedForAndForgetsNobody) {
  append("w-0.1.out", std::string(1000, 'a'));
  append("w-1.1.out", std::string(10, 'b'));
  follower_.add(1, folder_ + "/w-0.1", 0, 0);
  follower_.add(2, folder_ + "/w-1.1", 0, 0);
  EXPECT_FALSE(follower_.tell(600));
  EXPECT_EQ((told_[{1, false}].size()), 600U);
  EXPECT_FALSE(follower_.is_told(2));
  EXPECT_TRUE(follower_.tell(600));
  EXPECT_EQ((told_[{1, false}].size()), 1000U);
  EXPECT_EQ((told_[{2, false}].size()), 10U);
  follower_.remove(1);
  append("w-0.1.out", "more");
  EXPECT_TRUE(follower_.tell(600));
  EXPECT_EQ((told_[{1, false}].size()), 1000U);
}

TEST_F(LogFollowerTest, CutsLongOnesIntoChunks) {
  const std::string much(ssh::kMaxChunkBytes * 3, 'x');
  append("agent.log", much);
  follower_.add_file(folder_ + "/agent.log");
  EXPECT_TRUE(follower_.tell(much.size()));
  EXPECT_EQ((told_[{0, true}]), much);
  EXPECT_EQ(frames_, 3U);
}

TEST_F(LogFollowerTest, TellsOfOneAgentAlone) {
  follower_.add(1, folder_ + "/w-0.1", 0, 0);
  follower_.add(2, folder_ + "/w-1.1", 0, 0);
  append("w-0.1.out", "one\n");
  append("w-1.1.out", "two\n");
  append("w-1.1.err", "three\n");
  EXPECT_TRUE(follower_.tell_of(2, 100));
  EXPECT_FALSE(follower_.is_told(1));
  EXPECT_TRUE(follower_.is_told(2));
  EXPECT_EQ((told_[{2, false}]), "two\n");
  EXPECT_EQ((told_[{2, true}]), "three\n");
  EXPECT_TRUE(follower_.tell_of(3, 100)) << "of whom nothing is known";
}

// Its lines were missing without a word.
TEST_F(LogFollowerTest, ALogThatIsRemovedWhileItIsWrittenIsGone) {
  follower_.add(1, folder_ + "/w-0.1", 0, 0);
  EXPECT_FALSE(follower_.is_gone(1)) << "it appears with its first byte";
  append("w-0.1.out", "one\n");
  EXPECT_TRUE(follower_.tell(100));
  EXPECT_FALSE(follower_.is_gone(1));
  std::filesystem::remove(folder_ + "/w-0.1.out");
  EXPECT_TRUE(follower_.is_gone(1));
  EXPECT_FALSE(follower_.is_gone(2));
}

// Likewise; what is written then is not told before it is as long as what was told.
TEST_F(LogFollowerTest, ALogThatIsCutWhileItIsWrittenIsGone) {
  follower_.add(1, folder_ + "/w-0.1", 0, 0);
  append("w-0.1.out", "one\n");
  EXPECT_TRUE(follower_.tell(100));
  std::filesystem::resize_file(folder_ + "/w-0.1.out", 0);
  append("w-0.1.out", "two");
  EXPECT_TRUE(follower_.is_gone(1));
}

}  // namespace
}  // namespace gangrun::ssh::node
