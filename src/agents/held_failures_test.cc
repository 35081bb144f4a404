#include "agents/held_failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

job::Exited failure_of(int index) {
  job::ExitReport report;
  report.why = {.reason = job::Reason::kExitStatus, .code = 1};
  return {{"worker", index}, 1, report, base::Instant(base::seconds(100 + index))};
}

TEST(HeldFailures, WaitForALookThatBeganAfterThem) {
  HeldFailures failures;
  EXPECT_FALSE(failures.need_look());
  failures.hold(failure_of(2));
  failures.hold(failure_of(0));
  EXPECT_TRUE(failures.need_look());
  failures.look_begins();
  EXPECT_FALSE(failures.need_look());
  failures.hold(failure_of(1));
  EXPECT_FALSE(failures.need_look()) << "one look at a time";
  EXPECT_THAT(failures.look_ended(), ElementsAre(failure_of(2), failure_of(0)));
  EXPECT_TRUE(failures.need_look());
  failures.look_begins();
  EXPECT_THAT(failures.look_ended(), ElementsAre(failure_of(1)));
  EXPECT_FALSE(failures.need_look());
}

TEST(HeldFailures, OneThatIsTakenIsNotToldAgain) {
  HeldFailures failures;
  EXPECT_EQ(failures.take({"worker", 0}), std::nullopt);
  failures.hold(failure_of(0));
  failures.look_begins();
  failures.hold(failure_of(1));
  EXPECT_THAT(failures.take({"worker", 0}), Optional(failure_of(0)));
  EXPECT_EQ(failures.take({"worker", 0}), std::nullopt);
  EXPECT_THAT(failures.take({"worker", 1}), Optional(failure_of(1)));
  EXPECT_THAT(failures.look_ended(), IsEmpty());
  EXPECT_FALSE(failures.need_look());
}

}  // namespace
}  // namespace gangrun::agents
