#include "yarn/node_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/described.h"

namespace gangrun::yarn {
namespace {

NodeTrial trial() {
  return {.places = {{{"hdfs", "nn", 8020, {"http://nn:9870"}}, "/user/ana/x", "10.0.0.1:8020"},
                     {{"hdfs", "other", -1, {"http://a:9870", "http://b:9870"}}, "/tmp/x"}},
          .user = "ana",
          .python = "/usr/bin/python3",
          .python_is_named = true};
}

TEST(NodeTrial, IsTheSameOnTheNode) {
  EXPECT_EQ(*base::from_json<NodeTrial>(base::to_json(trial())), trial());
}

TEST(NodeTrial, ThatIsNoneIsRefused) {
  for (const char* key : {"places", "user", "python", "python_is_named"}) {
    base::Json json = base::to_json(trial());
    json.erase(key);
    EXPECT_FALSE(base::from_json<NodeTrial>(json).ok()) << key;
  }
  base::Json json = base::to_json(trial());
  json["places"][0].erase("folder");
  EXPECT_FALSE(base::from_json<NodeTrial>(json).ok());
}

TEST(NodeTrial, NamesItsFilesAsTheClusterDoes) {
  EXPECT_EQ(url_of(trial().places[0], "f"), "hdfs://nn:8020/user/ana/x/f");
  EXPECT_EQ(url_of(trial().places[1], "f"), "hdfs://other/tmp/x/f");
}

TEST(NodeTrial, NobodyThereIsTold) {
  const base::SystemClock clock;
  const TrialPlace nobody{{"hdfs", "127.0.0.1", 1, {"http://127.0.0.1:1"}}, "/x"};
  const cluster::Check check = try_file(nobody, {.user = "ana"}, "f", " from node1", clock);
  EXPECT_EQ(check.name, "hdfs://127.0.0.1:1 from node1");
  EXPECT_EQ(check.verdict, cluster::Verdict::kFailed);
  EXPECT_THAT(check.found, testing::HasSubstr("http://127.0.0.1:1"));
  EXPECT_THAT(check.to_do, testing::HasSubstr("dfs.namenode.http-address"));
}

}  // namespace
}  // namespace gangrun::yarn
