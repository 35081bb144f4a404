#include "client/far_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "client/test_context.h"

namespace gangrun::client {
namespace {

using base::Code;
using base::Result;
using cluster::FarFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kModified = 1'769'860'800'123;

struct FarOutputs : testing::Test {
  // Their content is their name, or a part of it.
  Result<> bring_all(const std::vector<FarFile>& files) {
    read.clear();
    const auto give = [this](const FarFile& file, const cluster::ResultSink& sink) {
      read.push_back(file.name);
      return sink(std::string_view(file.name).substr(0, most));
    };
    return bring(files, give, folder, progress);
  }
  static FarFile file(const std::string& name) {
    return {.task = "worker-0", .name = name, .bytes = name.size(), .modified_ms = kModified};
  }

  TestContext test;
  TransferProgress progress{test.context().console, "bring", TransferProgress::Form::kNone};
  const std::string folder = test.folder() + "/outputs";
  std::vector<std::string> read;
  std::size_t most = std::string::npos;
};

TEST_F(FarOutputs, ComeOnceAsTheyAreThere) {
  FarFile empty = file("empty");
  empty.is_folder = true;
  empty.bytes = 0;
  FarFile link = file("latest");
  link.target = "model/a";
  const std::vector<FarFile> files{file("model/a"), empty, link};
  const auto brought = bring_all(files);
  ASSERT_TRUE(brought.ok()) << brought.error().message;
  EXPECT_THAT(read, ElementsAre("model/a"));
  EXPECT_EQ(base::read_file(folder + "/worker-0/model/a", 100).value_or(""), "model/a");
  EXPECT_TRUE(std::filesystem::is_directory(folder + "/worker-0/empty"));
  EXPECT_EQ(std::filesystem::read_symlink(folder + "/worker-0/latest"), "model/a");
  EXPECT_TRUE(bring_all(files).ok());
  EXPECT_THAT(read, IsEmpty());
  // One that was written since comes again.
  FarFile newer = file("model/a");
  newer.modified_ms += 1;
  EXPECT_TRUE(bring_all({newer}).ok());
  EXPECT_THAT(read, ElementsAre("model/a"));
}

TEST_F(FarOutputs, OneThatBecameShorterIsNoWholeFile) {
  most = 3;
  const auto brought = bring_all({file("model/a")});
  ASSERT_FALSE(brought.ok());
  EXPECT_EQ(brought.error().code, Code::kDataLoss);
  EXPECT_EQ(brought.error().message, "worker-0/model/a became shorter while it was brought");
  EXPECT_FALSE(std::filesystem::exists(folder + "/worker-0/model/a"));
}

TEST_F(FarOutputs, NothingLeadsOutOfTheFolder) {
  for (const char* task : {"../x", "..", "worker-0/.."}) {
    FarFile odd = file("a");
    odd.task = task;
    EXPECT_EQ(bring_all({odd}).error().code, Code::kInvalidArgument) << task;
  }
  EXPECT_FALSE(bring_all({file("../../b")}).ok());
  EXPECT_FALSE(std::filesystem::exists(test.folder() + "/b"));
}

TEST_F(FarOutputs, OneThatHasNoPlaceStopsNoOther) {
  std::filesystem::create_directories(folder + "/worker-0/a/below");
  const auto brought = bring_all({file("a"), file("c")});
  ASSERT_FALSE(brought.ok());
  EXPECT_EQ(brought.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(brought.error().message, HasSubstr("a"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/worker-0/c"));
}

}  // namespace
}  // namespace gangrun::client
