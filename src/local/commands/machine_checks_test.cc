#include "local/commands/machine_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace gangrun::local::commands {
namespace {

TEST(AsksForMemoryOrCores, OfAnyTaskThatIsNotAsUsual) {
  job::JobSpec spec;
  spec.tasks.resize(2);
  for (job::TaskSpec& task : spec.tasks) task.instances = 2;
  EXPECT_FALSE(asks_for_memory_or_cores(spec));
  spec.tasks[1].resources.vcores = 2;
  EXPECT_TRUE(asks_for_memory_or_cores(spec));
  spec.tasks[1].resources = {};
  spec.tasks[0].resources.memory_mib = 1024;
  EXPECT_TRUE(asks_for_memory_or_cores(spec));
  spec.tasks[0].resources = {};
  spec.tasks[0].resources.gpus = 1;
  EXPECT_FALSE(asks_for_memory_or_cores(spec));
}

// `--output` had no effect here, and nothing said so.
TEST(OutputsRemark, IsForAJobThatNamesOutputs) {
  job::JobSpec spec;
  spec.tasks.resize(2);
  EXPECT_EQ(outputs_remark(spec), "");
  spec.outputs.emplace();
  EXPECT_EQ(outputs_remark(spec), "");
  spec.outputs->emplace_back("model");
  EXPECT_THAT(outputs_remark(spec), testing::HasSubstr("on this machine nothing is brought"));
  spec.outputs.reset();
  spec.tasks[1].outputs = {"model"};
  EXPECT_NE(outputs_remark(spec), "");
}

using testing::AllOf;
using testing::HasSubstr;

class LocalImages : public testing::Test {
 protected:
  LocalImages() {
    spec_.image = "tf:2";
    spec_.tasks.resize(3);
    spec_.tasks[1].image = "";
    spec_.tasks[2].image = "small";
  }
  ~LocalImages() override { std::filesystem::remove(engine_); }

  std::string error_with(const std::string& script) {
    std::ofstream(engine_) << "#!/bin/sh\n" << script;
    ::chmod(engine_.c_str(), 0755);
    const auto checked =
        check_images(spec_, engine_, std::chrono::steady_clock::now() + std::chrono::seconds(20));
    return checked.ok() ? "" : checked.error().message;
  }

  job::JobSpec spec_;
  std::string engine_ = base::format("{}/engine.{}", testing::TempDir(), ::getpid());
};

TEST_F(LocalImages, MustBeHere) {
  EXPECT_EQ(error_with("exit 0"), "");
  EXPECT_THAT(error_with("[ $5 = small ] && exit 0\necho '[]'; echo No such image: $5 >&2; exit 1"),
              AllOf(HasSubstr("image: 'tf:2'"), HasSubstr("(it says: No such image: tf:2)")));
}

TEST_F(LocalImages, NeedAnEngine) {
  const auto checked = check_images(spec_, base::not_found("there is no engine"), {});
  EXPECT_EQ(checked.error().message, "image: 'small': there is no engine");
  spec_.image = "";
  spec_.tasks.pop_back();
  EXPECT_TRUE(check_images(spec_, base::not_found("there is no engine"), {}).ok());
}

}  // namespace
}  // namespace gangrun::local::commands
