#include "kubernetes/pods/errands.h"

#include <gtest/gtest.h>

#include "kubernetes/test_idle_client.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

TEST(Errands, OneThatIsNotWantedAnyMoreIsDropped) {
  net::EventLoop loop;
  kubernetes::IdleClient client("ns");
  Errands errands(loop, client);
  const auto first = errands.ask({}, [](const ApiAnswer&) {});
  (void)errands.ask({}, [](const ApiAnswer&) {});
  errands.drop(first);
  errands.drop(first);
  EXPECT_EQ(errands.count(), 1U);
}

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

// A stranger's pod with the label of a job was deleted with it.
TEST(IsOwnedBy, TheOwnerThatItNamesAndNoLabel) {
  const auto owned = [](const std::string& kind, const std::string& name, const std::string& uid) {
    return Json{{"metadata",
                 {{"labels", {{"gangrun/job", "j"}}},
                  {"ownerReferences",
                   {{{"kind", "ReplicaSet"}, {"name", "x"}, {"uid", "u"}},
                    {{"kind", kind}, {"name", name}, {"uid", uid}}}}}}};
  };
  EXPECT_TRUE(is_owned_by(owned("Job", "j-owner", "u-1"), {"j-owner", "u-1"}));
  EXPECT_TRUE(is_owned_by(owned("Job", "j-owner", "u-1"), {"j-owner", ""}));
  EXPECT_FALSE(is_owned_by(owned("Job", "j-owner", "u-2"), {"j-owner", "u-1"}));
  EXPECT_FALSE(is_owned_by(owned("Job", "k-owner", "u-1"), {"j-owner", ""}));
  EXPECT_FALSE(is_owned_by(owned("CronJob", "j-owner", "u-1"), {"j-owner", ""}));
  const Json label = {{"metadata", {{"labels", {{"gangrun/job", "j"}}}}}};
  EXPECT_FALSE(is_owned_by(label, {"j-owner", ""}));
  for (const Json& odd : {Json(), Json::array({1}), Json{{"metadata", "text"}},
                          Json{{"metadata", {{"ownerReferences", {1, "x", Json::array()}}}}}}) {
    EXPECT_FALSE(is_owned_by(odd, {"", ""})) << odd;
  }
}

TEST(ItemsOf, AList) {
  EXPECT_EQ(items_of({{"items", {1, 2}}}).size(), 2U);
  EXPECT_TRUE(items_of({{"items", 3}}).empty());
  EXPECT_TRUE(items_of(Json::array()).empty());
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
