#include "cluster/task_files.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

TEST(ResultNames, ANameLeadsBackToItsTask) {
  for (const job::TaskId& task : {job::TaskId{"worker", 0}, job::TaskId{"big-worker", 17}}) {
    EXPECT_EQ(task_of_result(result_name(task)), task);
  }
}

TEST(ResultNames, WhatIsNotWholeIsNoResult) {
  for (const char* name : {"worker-0.part", ".worker-0", "worker", "worker-", "worker-x", ""}) {
    EXPECT_EQ(task_of_result(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace gangrun::cluster
