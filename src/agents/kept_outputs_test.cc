#include "agents/kept_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/test_folder.h"

namespace gangrun::agents {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class KeptOutputsTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& content, mode_t mode = 0644) {
    const std::string path = folder / name;
    fs::create_directories(fs::path(path).parent_path());
    ASSERT_TRUE(base::write_file_atomically(path, content, mode).ok());
  }
  std::vector<std::string> listed(const std::string& task = "") {
    const auto list = kept.list(task);
    EXPECT_TRUE(list.ok());
    std::vector<std::string> words;
    for (const wire::KeptOutput& each : list->outputs) {
      words.push_back(base::format("{} {} {}{}{}{}", each.task, each.name, each.bytes,
                                   each.is_executable ? " x" : "", each.is_folder ? " folder" : "",
                                   each.target.empty() ? "" : " -> " + each.target));
    }
    return words;
  }
  std::string read(const std::string& name, std::uint64_t from = 0) {
    const auto bytes = kept.read("worker-0", name, from);
    return bytes.ok() ? *bytes : base::format("error {}", static_cast<int>(bytes.error().code));
  }
  static std::string error(base::Code code) {
    return base::format("error {}", static_cast<int>(code));
  }

  base::TestFolder folder;
  KeptOutputs kept{folder / "outputs"};
};

TEST_F(KeptOutputsTest, AreListedByTaskAndName) {
  EXPECT_THAT(listed(), IsEmpty());
  put("outputs/worker-1/model", "abc");
  put("outputs/worker-0/run.sh", "#!", 0755);
  put("outputs/worker-0/a/b", "");
  fs::create_directories(folder / "outputs/worker-0/empty");
  fs::create_symlink("a/b", folder / "outputs/worker-0/link");
  // A part lies beside the tasks' folders until it is whole.
  put("outputs/.part-1", "not all of it");
  put("outputs/notes", "nobody's");
  EXPECT_THAT(listed(),
              ElementsAre("worker-0 a/b 0", "worker-0 empty 0 folder", "worker-0 link 0 -> a/b",
                          "worker-0 run.sh 2 x", "worker-1 model 3"));
  EXPECT_THAT(listed("worker-1"), ElementsAre("worker-1 model 3"));
  EXPECT_THAT(listed("worker-7"), IsEmpty());
  EXPECT_GT(kept.list("worker-1")->outputs[0].modified_ms, 1'000'000'000'000);
}

TEST_F(KeptOutputsTest, AreReadFromAnOffset) {
  put("outputs/worker-0/a/b", "0123456789");
  EXPECT_EQ(read("a/b"), "0123456789");
  EXPECT_EQ(read("a/b", 7), "789");
  EXPECT_EQ(read("a/b", 10), "");
  EXPECT_EQ(read("a/b", 11), "");
}

TEST_F(KeptOutputsTest, NothingElseIsRead) {
  put("secret", "the secret");
  put("outputs/worker-0/a", "a");
  fs::create_symlink(folder / "secret", folder / "outputs/worker-0/link");
  fs::create_directory_symlink(folder.path(), folder / "outputs/worker-0/up");
  ASSERT_EQ(::mkfifo((folder / "outputs/worker-0/fifo").c_str(), 0600), 0);
  const std::string none = error(base::Code::kNotFound);
  for (const std::string name : {"../../secret", "../worker-0/a", "a/../a", "", "/a", "a/", "b"}) {
    EXPECT_EQ(read(name), none) << name;
  }
  for (const std::string name : {"link", "up/secret", "fifo", "."}) {
    EXPECT_THAT(read(name), testing::StartsWith("error")) << name;
  }
  for (const std::string task : {"..", "", "worker", "../outputs/worker-0"}) {
    EXPECT_EQ(kept.read(task, "a", 0).error().code, base::Code::kNotFound) << task;
    EXPECT_EQ(kept.remove(task).error().code, base::Code::kNotFound) << task;
  }
}

TEST_F(KeptOutputsTest, AreRemovedByTask) {
  put("outputs/worker-0/a", "a");
  put("outputs/worker-1/a", "a");
  EXPECT_TRUE(kept.remove("worker-0").ok());
  EXPECT_TRUE(kept.remove("worker-0").ok());
  EXPECT_THAT(listed(), ElementsAre("worker-1 a 1"));
}

}  // namespace
}  // namespace gangrun::agents
