#include "frameworks/outer_launchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/strings.h"
#include "base/test_project_files.h"

namespace gangrun::frameworks {
namespace {

TEST(OuterLaunchers, ANameOrTheBeginningOfOne) {
  for (const char* name : {"RANK", "TF_CONFIG", "DTF_WORKER_HOSTS", "PMIX_RANK", "SLURM_PROCID",
                           "TORCHELASTIC_RUN_ID", "OMPI_COMM_WORLD_RANK"}) {
    EXPECT_TRUE(is_of_outer_launcher(name)) << name;
  }
  for (const char* name : {"", "RANKS", "MY_RANK", "TF_CPP_MIN_LOG_LEVEL", "OMPI_MCA_btl", "DTF",
                           "SLURM_JOB_ID", "SLURM_NODELIST", "NCCL_DEBUG", "OMP_NUM_THREADS",
                           "CUDA_VISIBLE_DEVICES", "HOROVOD_TIMELINE", "PATH"}) {
    EXPECT_FALSE(is_of_outer_launcher(name)) << name;
  }
}

TEST(OuterLaunchers, TheDocumentHasThem) {
  std::string table = "| launcher | variables |\n|---|---|\n";
  for (const OuterLauncher& launcher : outer_launchers()) {
    std::vector<std::string> names;
    for (const std::string_view name : launcher.variables) {
      names.push_back(base::format("`{}`", name));
    }
    table += base::format("| {} | {} |\n", launcher.name, base::join(names, ", "));
  }
  const std::string path = "docs/variables.md";
  base::expect_made(path,
                    base::with_table(base::read_project_file(path), "outer launchers", table));
}

}  // namespace
}  // namespace gangrun::frameworks
