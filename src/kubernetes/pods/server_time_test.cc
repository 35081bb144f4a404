#include <gtest/gtest.h>

#include "kubernetes/pods/pod_entry.h"

namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ServerTime, TheLeastDelayTellsHowTheClocksDiffer) {
  const base::Instant here{seconds(1000)};
  const base::WallTime there{seconds(50)};
  ServerTime time;
  EXPECT_EQ(time.instant_of(there, here), here);
  time.heard(there, here + milliseconds(900));
  time.heard(there + seconds(1), here + milliseconds(1010));
  EXPECT_EQ(time.instant_of(there, here + seconds(2)), here + milliseconds(10));
  EXPECT_EQ(time.instant_of(there + seconds(9), here + seconds(2)), here + seconds(2));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
