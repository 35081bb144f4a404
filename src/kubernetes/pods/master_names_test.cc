#include "kubernetes/pods/master_names.h"

#include <gtest/gtest.h>

#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {
namespace {

TEST(MasterNames, BeginWithTheJobsAndDiffer) {
  const ManifestInput input = test::wine_job();
  EXPECT_EQ(master_secret_name(input), "wine-20260131-120000-3fa1-master");
  EXPECT_EQ(head_name(input), "wine-20260131-120000-3fa1-head");
  EXPECT_NE(master_secret_name(input), agent_secret_name(input));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
