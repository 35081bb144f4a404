#include "process/starter_messages.h"

#include <gmock/gmock.h>

#include "base/test_described.h"

namespace gangrun::process::starter {
namespace {

TEST(StarterMessages, AreReadAsTheyWereWritten) {
  for (const Order& each : base::sample_of_each(static_cast<const Order*>(nullptr))) {
    const auto read = order_from(to_text(each));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(to_text(*read), to_text(each));
  }
  for (const Report& each : base::sample_of_each(static_cast<const Report*>(nullptr))) {
    const auto read = report_from(to_text(each));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(to_text(*read), to_text(each));
  }
}

TEST(StarterMessages, AreInTheFuzzersCorpus) {
  base::expect_samples_in_corpus<Order>("what", "starter/order");
  base::expect_samples_in_corpus<Report>("what", "starter/report");
}

TEST(StarterMessages, AnEndHasAStatusOrAnError) {
  EXPECT_EQ(
      to_text(Report(EndReport{.key = "worker:0/1", .status = 9, .survivors = 2, .error = {}})),
      R"({"what":"ended","key":"worker:0/1","status":9,"survivors":2})");
  EXPECT_EQ(
      to_text(Report(EndReport{.key = "a", .status = {}, .survivors = 0, .error = "no memory"})),
      R"({"what":"ended","key":"a","error":"no memory"})");
}

TEST(StarterMessages, MembersOfLaterVersionsArePassedOver) {
  const auto read = order_from(R"({"key":"a","what":"kill","with":"care"})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_text(*read), R"({"what":"kill","key":"a"})");
}

TEST(StarterMessages, OthersAreErrors) {
  for (const char* text : {"", "[]", "{}", R"({"what":"kill"})", R"({"what":"love","key":"a"})",
                           R"({"what":"start","key":"a","arguments":["task"],"fds":["3"]})"}) {
    EXPECT_FALSE(order_from(text).ok()) << text;
    EXPECT_FALSE(report_from(text).ok()) << text;
  }
}

}  // namespace
}  // namespace gangrun::process::starter
