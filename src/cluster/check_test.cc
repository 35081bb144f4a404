#include "cluster/check.h"

#include <gtest/gtest.h>

#include "job/described.h"

namespace gangrun::cluster {
namespace {

TEST(Check, IsTheSameOnTheOtherSide) {
  for (const Verdict verdict :
       {Verdict::kOk, Verdict::kWarning, Verdict::kFailed, Verdict::kNotChecked}) {
    const Check check{"HDFS", verdict, "it answers", "nothing"};
    EXPECT_EQ(*base::from_json<Check>(base::to_json(check)), check);
  }
}

TEST(Check, ThatIsNoneIsRefused) {
  base::Json json = base::to_json(Check{"HDFS", Verdict::kOk, "it answers"});
  json["verdict"] = "fine";
  EXPECT_EQ(base::from_json<Check>(json).error().message,
            "\"verdict\" must be ok, warning, failed or not checked");
  EXPECT_FALSE(base::from_json<Check>(base::Json::array()).ok());
}

TEST(Check, OnlyWhatFailedKeepsJobsFromRunning) {
  EXPECT_FALSE(any_failed({{"a", Verdict::kOk, "x"}, {"b", Verdict::kWarning, "y"}}));
  EXPECT_FALSE(any_failed({{"a", Verdict::kNotChecked, "x"}}));
  EXPECT_TRUE(any_failed({{"a", Verdict::kOk, "x"}, {"b", Verdict::kFailed, "y"}}));
}

}  // namespace
}  // namespace gangrun::cluster
