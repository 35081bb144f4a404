#include "agents/result_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/files.h"

namespace gangrun::agents {
namespace {

using registry::ResultKeptMessage;
using testing::HasSubstr;

const job::TaskId kThirdWorker{"worker", 3};

struct FakeFar : cluster::FarResults {
  void keep(const std::string& name, const std::string& path,
            std::function<void(base::Result<>)> done) override {
    kept.push_back(name + "=" + base::read_file(path, 1024).value_or("?"));
    waiting = std::move(done);
  }
  void remove(const std::string& name) override { removed.push_back(name); }

  std::vector<std::string> kept;
  std::vector<std::string> removed;
  std::function<void(base::Result<>)> waiting;
};

class ResultStoreTest : public testing::Test {
 protected:
  ResultStoreTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "results-XXXXXX").string();
    parent_ = ::mkdtemp(pattern.data());
    folder_ = parent_ + "/results";
  }
  ~ResultStoreTest() override { std::filesystem::remove_all(parent_); }

  std::optional<ResultKeptMessage> add(ResultStore& store, const std::string& bytes,
                                       std::int64_t offset, std::int64_t size, int attempt = 1) {
    answer_.reset();
    store.add({kThirdWorker, attempt, offset, size, bytes},
              [this](ResultKeptMessage message) { answer_ = std::move(message); });
    return answer_;
  }

  [[nodiscard]] std::string content() const {
    const auto text = base::read_file(folder_ + "/worker-3", 1024);
    return text.ok() ? *text : "";
  }

  std::string parent_;
  std::string folder_;
  std::optional<ResultKeptMessage> answer_;
};

TEST_F(ResultStoreTest, AResultIsThereWhenItIsWhole) {
  ResultStore store(folder_, nullptr);
  EXPECT_EQ(add(store, "ab", 0, 3), (ResultKeptMessage{1, 2, ""}));
  EXPECT_EQ(content(), "");
  EXPECT_EQ(add(store, "c", 2, 3), (ResultKeptMessage{1, 3, ""}));
  EXPECT_EQ(content(), "abc");
  struct stat info {};
  ASSERT_EQ(::stat((folder_ + "/worker-3").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(ResultStoreTest, ASecondBeginningReplacesTheFirst) {
  ResultStore store(folder_, nullptr);
  add(store, "ab", 0, 3);
  add(store, "xy", 0, 3);
  add(store, "z", 2, 3);
  EXPECT_EQ(content(), "xyz");
}

TEST_F(ResultStoreTest, APartOutOfOrderIsRefused) {
  ResultStore store(folder_, nullptr);
  EXPECT_THAT(add(store, "c", 2, 3)->refused, HasSubstr("byte 2"));
  add(store, "ab", 0, 3);
  EXPECT_THAT(add(store, "c", 2, 3, 2)->refused, HasSubstr("byte 2"));
  EXPECT_EQ(content(), "");
}

TEST_F(ResultStoreTest, WhereNothingCanBeWrittenItIsRefused) {
  ASSERT_TRUE(base::write_file_atomically(folder_, "a file", 0600).ok());
  ResultStore store(folder_, nullptr);
  EXPECT_NE(add(store, "a", 0, 1)->refused, "");
}

TEST_F(ResultStoreTest, ANewRunsResultIsItsOwn) {
  ResultStore store(folder_, nullptr);
  add(store, "a", 0, 1);
  store.forget(kThirdWorker);
  EXPECT_EQ(content(), "");
}

TEST_F(ResultStoreTest, TheLastPartWaitsForTheFarCopy) {
  FakeFar far;
  ResultStore store(folder_, &far);
  EXPECT_TRUE(add(store, "ab", 0, 3));
  EXPECT_FALSE(add(store, "c", 2, 3));
  EXPECT_THAT(far.kept, testing::ElementsAre("worker-3=abc"));
  far.waiting({});
  EXPECT_EQ(answer_, (ResultKeptMessage{1, 3, ""}));
  EXPECT_EQ(content(), "");
  add(store, "x", 0, 1);
  far.waiting(base::unavailable("no room"));
  EXPECT_EQ(answer_, (ResultKeptMessage{1, 0, "no room"}));
  store.forget(kThirdWorker);
  EXPECT_THAT(far.removed, testing::ElementsAre("worker-3"));
}

}  // namespace
}  // namespace gangrun::agents
