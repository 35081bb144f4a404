#include "cluster/kubernetes/errands.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

using base::Json;

TEST(JobSelector, IsTheJobsLabel) { EXPECT_EQ(job_selector("j-1"), "gangrun/job=j-1"); }

TEST(WordsOfObject, KindAndName) {
  EXPECT_EQ(words_of_object({{"kind", "ConfigMap"}, {"metadata", {{"name", "j-files"}}}}),
            "ConfigMap j-files");
  EXPECT_EQ(words_of_object(Json::array()), "object ");
}

TEST(IsOfJob, ByItsLabel) {
  const Json object = {{"metadata", {{"labels", {{"gangrun/job", "j"}}}}}};
  EXPECT_TRUE(is_of_job(object, "j"));
  EXPECT_FALSE(is_of_job(object, "k"));
  EXPECT_FALSE(is_of_job(Json(), "j"));
}

TEST(ItemsOf, AList) {
  EXPECT_EQ(items_of({{"items", {1, 2}}}).size(), 2U);
  EXPECT_TRUE(items_of({{"items", 3}}).empty());
  EXPECT_TRUE(items_of(Json::array()).empty());
}

}  // namespace
}  // namespace gangrun::cluster
