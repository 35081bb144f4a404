#include "cluster/check.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

TEST(Check, IsTheSameOnTheOtherSide) {
  for (const Verdict verdict :
       {Verdict::kOk, Verdict::kWarning, Verdict::kFailed, Verdict::kNotChecked}) {
    const Check check{"HDFS", verdict, "it answers", "nothing"};
    EXPECT_EQ(*check_from_json(to_json(check)), check);
  }
}

TEST(Check, ThatIsNoneIsRefused) {
  base::Json json = to_json({"HDFS", Verdict::kOk, "it answers"});
  json["verdict"] = "fine";
  EXPECT_EQ(check_from_json(json).error().message, "\"verdict\": fine is none");
  EXPECT_FALSE(check_from_json(base::Json::array()).ok());
}

TEST(Check, OnlyWhatFailedKeepsJobsFromRunning) {
  EXPECT_FALSE(any_failed({{"a", Verdict::kOk, "x"}, {"b", Verdict::kWarning, "y"}}));
  EXPECT_FALSE(any_failed({{"a", Verdict::kNotChecked, "x"}}));
  EXPECT_TRUE(any_failed({{"a", Verdict::kOk, "x"}, {"b", Verdict::kFailed, "y"}}));
}

}  // namespace
}  // namespace gangrun::cluster
