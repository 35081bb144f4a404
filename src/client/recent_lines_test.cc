#include "client/recent_lines.h"

#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

const job::TaskId kWorker{"worker", 0};
const job::TaskId kOther{"worker", 1};

TEST(RecentLines, AreThoseOfTheTaskThatCameLast) {
  RecentLines recent;
  EXPECT_TRUE(recent.have(kWorker, {}));
  recent.add({{kWorker, true, "Traceback"}, {kOther, true, "other"}, {kWorker, false, "end"}});
  EXPECT_TRUE(recent.have(kWorker, {"Traceback", "end"}));
  EXPECT_FALSE(recent.have(kWorker, {"Traceback", "other"}));
  // Nobody looks for what has scrolled away.
  recent.add(std::vector<cluster::LogLine>(RecentLines::kMost - 1, {kOther, true, "flood"}));
  EXPECT_TRUE(recent.have(kWorker, {"end"}));
  EXPECT_FALSE(recent.have(kWorker, {"Traceback", "end"}));
  recent.add(std::vector<cluster::LogLine>(RecentLines::kMost + 5, {kOther, true, "flood"}));
  EXPECT_FALSE(recent.have(kWorker, {"end"}));
}

TEST(RecentLines, OfLongOnesNothingIsKept) {
  RecentLines recent;
  const std::string longest(RecentLines::kLongest, 'x');
  recent.add({{kWorker, true, longest}, {kWorker, true, longest + "x"}});
  EXPECT_TRUE(recent.have(kWorker, {longest}));
  EXPECT_FALSE(recent.have(kWorker, {longest + "x"}));
}

}  // namespace
}  // namespace gangrun::client
