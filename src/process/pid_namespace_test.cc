#include "process/pid_namespace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace gangrun::process::pid_namespace {
namespace {

constexpr pid_t kSmallest = 32768;  // of any machine
constexpr pid_t kUsual = 4 << 20;   // what systemd sets
constexpr pid_t kFirst = 300;

TEST(FirstNumberTest, IsAnotherForEachFirstProcess) {
  std::set<pid_t> found;
  for (pid_t outer = kFirst; outer < kSmallest; ++outer) {
    const pid_t first = first_number(outer, kSmallest);
    EXPECT_GE(first, kFirst);
    EXPECT_LT(first, kSmallest);
    found.insert(first);
  }
  EXPECT_EQ(found.size(), std::size_t{kSmallest - kFirst});
}

TEST(FirstNumberTest, NeighboursAreFarApart) {
  for (const pid_t end : {kSmallest, pid_t{40000}, kUsual}) {
    for (const pid_t in_a_row : {2, 10, 100}) {
      std::vector<pid_t> numbers;
      for (pid_t outer = 20000; outer < 20000 + in_a_row; ++outer) {
        numbers.push_back(first_number(outer, end));
      }
      std::sort(numbers.begin(), numbers.end());
      pid_t nearest = end;
      for (std::size_t i = 1; i < numbers.size(); ++i) {
        nearest = std::min(nearest, numbers[i] - numbers[i - 1]);
      }
      EXPECT_GE(nearest, (end - kFirst) / (2.7 * in_a_row)) << end << ", " << in_a_row;
    }
  }
}

TEST(FirstNumberTest, OfANumberThatIsNoneOfAnOrdinaryProcessIsThat) {
  EXPECT_EQ(first_number(12, kSmallest), 12);
  EXPECT_EQ(first_number(kSmallest, kSmallest), kSmallest);
  EXPECT_EQ(first_number(500, 301), 500);
}

}  // namespace
}  // namespace gangrun::process::pid_namespace
