#include "kubernetes/commands/detached_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::kubernetes::commands {
namespace {

using testing::HasSubstr;

job::JobSpec spec_of(const std::string& type) {
  job::JobSpec spec;
  job::TaskSpec task;
  task.type = type;
  task.policy = job::default_policy(type);
  spec.tasks.push_back(task);
  task.type = "worker";
  task.policy = job::Policy::kTracked;
  spec.tasks.push_back(task);
  return spec;
}

TEST(DetachedPods, LiveAsLongAsTheirTimeLimitOrAWeek) {
  job::JobSpec spec = spec_of("ps");
  EXPECT_EQ(detached_lease(spec), std::chrono::hours(168));
  spec.timeouts.job = std::chrono::milliseconds(1500);
  EXPECT_EQ(detached_lease(spec), std::chrono::seconds(2));
}

TEST(DetachedPods, WhatNeedsAClientIsRefused) {
  job::JobSpec spec = spec_of("ps");
  EXPECT_TRUE(check_detached_pods(spec).ok());
  spec.timeouts.allocation = std::chrono::seconds(12);
  EXPECT_EQ(check_detached_pods(spec).error().message,
            "timeouts.allocation: 12 s is not allowed with --detach on kubernetes, where no client "
            "is running that could end the job then; allowed: none, and timeouts.job, which the "
            "cluster keeps");
  spec.timeouts = {};
  spec.timeouts.roll_call = std::chrono::seconds(12);
  EXPECT_THAT(check_detached_pods(spec).error().message, HasSubstr("timeouts.roll_call: 12 s is"));
  spec.timeouts = {};
  spec.tasks[0].outputs = {"model"};
  EXPECT_THAT(check_detached_pods(spec).error().message, HasSubstr("tasks.ps.outputs: model is"));
  spec.outputs = {"logs"};
  EXPECT_THAT(check_detached_pods(spec).error().message, HasSubstr("outputs: logs is not allowed"));
  spec.restarts.max = 2;
  EXPECT_EQ(check_detached_pods(spec).error().message,
            "restarts: 2 is not allowed with --detach on kubernetes, where no client is running to "
            "handle a failure; allowed: 0");
  for (const char* type : {"evaluator", "tensorboard"}) {
    const auto refused = check_detached_pods(spec_of(type));
    ASSERT_FALSE(refused.ok()) << type;
    EXPECT_THAT(refused.error().message, HasSubstr("allowed: tracked, service"));
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
