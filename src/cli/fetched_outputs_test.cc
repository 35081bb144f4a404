#include "cli/fetched_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/described_json.h"
#include "base/files.h"

namespace gangrun::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class FetchedOutputs : public testing::Test {
 protected:
  FetchedOutputs() {
    fs::create_directories(outputs_ / "worker-0" / "model" / "weights");
    std::ofstream(outputs_ / "worker-0" / "model" / "weights" / "0") << "12345";
    std::ofstream(outputs_ / "worker-0" / "model" / "graph") << "123";
    std::ofstream(outputs_ / "worker-0" / "log.csv") << "1";
  }
  ~FetchedOutputs() override { fs::remove_all(top_); }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("outputs-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  const fs::path outputs_ = top_ / "outputs";
};

TEST_F(FetchedOutputs, AreListedWithTheirSizes) {
  const auto found = fetched_outputs(outputs_.string());
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(*found, ElementsAre(FetchedOutput{"worker-0", "log.csv", 1, 1},
                                  FetchedOutput{"worker-0", "model", 2, 8}));
  EXPECT_EQ(base::to_json(found->back())["bytes"], 8);
}

TEST_F(FetchedOutputs, OfAJobThatHasNone) {
  const auto found = fetched_outputs((top_ / "nowhere").string());
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(FetchedOutputs, AreCopiedOnce) {
  const std::string to = (top_ / "here" / "there").string();
  const FetchedOutput model{"worker-0", "model", 2, 8};
  ASSERT_TRUE(copy_output(outputs_.string(), model, to).ok());
  EXPECT_EQ(*base::read_file(to + "/worker-0/model/weights/0", 16), "12345");
  const auto again = copy_output(outputs_.string(), model, to);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, base::Code::kAlreadyExists);
}

// The file was not whole when gangrun was killed.
TEST_F(FetchedOutputs, AFileBesideTheFoldersIsNone) {
  std::ofstream(outputs_ / ".gangrun-0123") << "1";
  EXPECT_EQ(fetched_outputs(outputs_.string())->size(), 2U);
}

TEST_F(FetchedOutputs, TheirNamesMayBeAsLongAsNamesCanBe) {
  const std::string name(255, 'n');
  std::ofstream(outputs_ / "worker-0" / name) << "1";
  const std::string to = (top_ / "here").string();
  ASSERT_TRUE(copy_output(outputs_.string(), {"worker-0", name, 1, 1}, to).ok());
  EXPECT_EQ(*base::read_file(to + "/worker-0/" + name, 16), "1");
}

TEST_F(FetchedOutputs, NothingThatIsNotWholeIsAtItsName) {
  const fs::path to = top_ / "here";
  ASSERT_EQ(::mkfifo((outputs_ / "worker-0" / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(copy_output(outputs_.string(), {"worker-0", "model", 2, 8}, to.string()).ok());
  EXPECT_TRUE(fs::is_empty(to / "worker-0"));
}

TEST_F(FetchedOutputs, AFileInTheWayIsNamed) {
  std::ofstream(top_ / "file") << "";
  const auto copied =
      copy_output(outputs_.string(), {"worker-0", "model", 2, 8}, (top_ / "file").string());
  ASSERT_FALSE(copied.ok());
  EXPECT_THAT(copied.error().message, testing::HasSubstr("file/worker-0"));
  EXPECT_EQ(copied.error().code, base::Code::kFailedPrecondition) << "no bad input, no missing job";
}

// Only tasks were named as what could be named, and all hosts were asked before.
TEST(CheckFetchedName, TasksAndHostsOfTheJobCanBeNamed) {
  job::JobSpec spec;
  spec.tasks.push_back({.type = "worker", .instances = 4});
  spec.tasks.push_back({.type = "ps", .instances = 1});
  spec.hosts = {{"gpu1", {}}, {"gpu2", {}}};
  for (const char* name : {"", "worker:0", "worker:3", "worker-3", "ps:0", "gpu2"}) {
    EXPECT_TRUE(check_fetched_name(spec, name).ok()) << name;
  }
  for (const char* name : {"nosuch", "worker:4", "worker", "ps-1", "worker:x", "gpu3"}) {
    EXPECT_FALSE(check_fetched_name(spec, name).ok()) << name;
  }
  EXPECT_EQ(check_fetched_name(spec, "nosuch").error().message,
            "TASK: 'nosuch' is no task and no host of this job; allowed: worker:0 to worker:3, "
            "ps:0, host gpu1, host gpu2");
  spec.hosts.clear();
  EXPECT_EQ(check_fetched_name(spec, "gpu1").error().message,
            "TASK: 'gpu1' is no task of this job; allowed: worker:0 to worker:3, ps:0");
}

}  // namespace
}  // namespace gangrun::cli
