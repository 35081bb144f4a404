#include "yarn/where_containers_work.h"

#include <gtest/gtest.h>

namespace gangrun::yarn {

namespace {

TEST(WhereContainersWork, WithoutOutputsItSaysWhatGoes) {
  job::JobSpec spec;
  spec.tasks.resize(1);
  const std::string words =
      "tasks work in the folders of their containers, which YARN removes at the end: write what is "
      "to stay to a file system that all see, or name it in `outputs`";
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
  spec.outputs.emplace();
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
}

TEST(WhereContainersWork, OutputsOfTheJobOrOfATypeHaveAPlace) {
  const std::string words =
      "tasks work in the folders of their containers, which YARN removes at the end: what "
      "`outputs` names goes to hdfs://nn/outputs, for `gangrun fetch`";
  job::JobSpec spec;
  spec.tasks.resize(2);
  spec.tasks.back().outputs = {"model"};
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
  spec.tasks.back().outputs.reset();
  spec.outputs = {"model"};
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
}

}  // namespace

}  // namespace gangrun::yarn
