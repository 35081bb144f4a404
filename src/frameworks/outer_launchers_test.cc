#include "frameworks/outer_launchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/test_project_files.h"

namespace gangrun::frameworks {
namespace {

TEST(OuterLaunchers, ANameOrTheBeginningOfOne) {
  const auto none_is_set = [](std::string_view) { return false; };
  for (const char* name :
       {"RANK", "TF_CONFIG", "DTF_WORKER_HOSTS", "PMIX_RANK", "SLURM_PROCID", "TORCHELASTIC_RUN_ID",
        "OMPI_COMM_WORLD_RANK", "CLUSTER_SPEC", "TASK_INDEX", "VC_WORKER_HOSTS", "VK_TASK_INDEX",
        "MEGASCALE_COORDINATOR_ADDRESS", "PRTE_LAUNCHED", "DMLC_RANK", "DMLC_TRACKER_URI",
        "PADDLE_TRAINERS_NUM"}) {
    EXPECT_TRUE(is_of_outer_launcher(name, none_is_set)) << name;
  }
  for (const char* name :
       {"", "RANKS", "MY_RANK", "TF_CPP_MIN_LOG_LEVEL", "OMPI_MCA_btl", "DTF", "SLURM_JOB_ID",
        "SLURM_NODELIST", "NCCL_DEBUG", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES",
        "HOROVOD_TIMELINE", "PATH", "JOB_NAME", "SESSION_ID"}) {
    EXPECT_FALSE(is_of_outer_launcher(name, none_is_set)) << name;
  }
}

// Jenkins has a JOB_NAME of its own.
TEST(OuterLaunchers, ANameThatOthersUseTooCountsBesideOneThatTheyDoNot) {
  const auto in_tony = [](std::string_view name) { return name == "TASK_INDEX"; };
  for (const char* name : {"JOB_NAME", "SESSION_ID", "IS_CHIEF"}) {
    EXPECT_TRUE(is_of_outer_launcher(name, in_tony)) << name;
  }
  EXPECT_FALSE(is_of_outer_launcher("PATH", in_tony));
}

TEST(OuterLaunchers, TheDocumentHasThem) {
  std::string table = "| launcher | variables |\n|---|---|\n";
  for (const OuterLauncher& launcher : outer_launchers()) {
    std::vector<std::string> names;
    for (const std::string_view name : launcher.variables) {
      names.push_back(base::format("`{}`", name));
    }
    std::vector<std::string> beside;
    for (const std::string_view name : launcher.beside) {
      beside.push_back(base::format("`{}`", name));
    }
    table += base::format("| {} | {}", launcher.name, base::join(names, ", "));
    if (!beside.empty()) {
      table += base::format("; beside one of these: {}", base::join(beside, ", "));
    }
    table += " |\n";
  }
  const std::string path = "docs/variables.md";
  base::expect_made(path,
                    base::with_table(base::read_project_file(path), "outer launchers", table));
}

}  // namespace
}  // namespace gangrun::frameworks
