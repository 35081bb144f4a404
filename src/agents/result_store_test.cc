#include "agents/result_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::agents {
namespace {

using testing::HasSubstr;

const job::TaskId kThirdWorker{"worker", 3};
constexpr std::int64_t kQuestion = 7;

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

  ResultStore store(cluster::FarResults* far = nullptr) {
    return {folder_, far, [this](const job::TaskId& task, const wire::AnswerMessage& answer) {
              EXPECT_EQ(task, kThirdWorker);
              EXPECT_EQ(answer.id, kQuestion);
              answer_ = answer.refused.empty()
                            ? base::format("keeps {}", answer.said.at("kept").get<int>())
                            : answer.refused;
            }};
  }

  // The answer; empty: there is none yet.
  std::string add(ResultStore& store, const std::string& bytes, std::int64_t offset,
                  std::int64_t size, int attempt = 1, std::optional<int> run = 1) {
    answer_.clear();
    const wire::ResultPart part{attempt, offset, size, bytes};
    store.ask(kThirdWorker, run,
              {.id = kQuestion, .kind = "result", .about = base::to_json(part), .limit = {}});
    return answer_;
  }

  [[nodiscard]] std::string content() const {
    const auto text = base::read_file(folder_ + "/worker-3", 1024);
    return text.ok() ? *text : "";
  }

  std::string parent_;
  std::string folder_;
  std::string answer_;
};

TEST_F(ResultStoreTest, AResultIsThereWhenItIsWhole) {
  ResultStore store = this->store();
  EXPECT_EQ(add(store, "ab", 0, 3), "keeps 2");
  EXPECT_EQ(content(), "");
  EXPECT_EQ(add(store, "c", 2, 3), "keeps 3");
  EXPECT_EQ(content(), "abc");
  struct stat info {};
  ASSERT_EQ(::stat((folder_ + "/worker-3").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(ResultStoreTest, ASecondBeginningReplacesTheFirst) {
  ResultStore store = this->store();
  add(store, "ab", 0, 3);
  add(store, "xy", 0, 3);
  add(store, "z", 2, 3);
  EXPECT_EQ(content(), "xyz");
}

TEST_F(ResultStoreTest, APartOutOfOrderIsRefused) {
  ResultStore store = this->store();
  EXPECT_THAT(add(store, "c", 2, 3), HasSubstr("byte 2"));
  add(store, "ab", 0, 3);
  EXPECT_THAT(add(store, "c", 2, 3, 2, 2), HasSubstr("byte 2"));
  EXPECT_EQ(content(), "");
}

TEST_F(ResultStoreTest, OfAnotherRunNothingIsKept) {
  ResultStore store = this->store();
  EXPECT_THAT(add(store, "a", 0, 1, 1, 2), HasSubstr("run 1"));
  EXPECT_THAT(add(store, "a", 0, 1, 1, std::nullopt), HasSubstr("run 1"));
  EXPECT_EQ(content(), "");
}

TEST_F(ResultStoreTest, APartThatIsNoneIsRefused) {
  ResultStore store = this->store();
  EXPECT_THAT(add(store, "", 0, 1), HasSubstr("\"bytes\""));
  EXPECT_THAT(add(store, "abc", 1, 3), HasSubstr("\"bytes\""));
}

TEST_F(ResultStoreTest, WhereNothingCanBeWrittenItIsRefused) {
  ASSERT_TRUE(base::write_file_atomically(folder_, "a file", 0600).ok());
  ResultStore store = this->store();
  EXPECT_THAT(add(store, "a", 0, 1), HasSubstr(folder_));
}

TEST_F(ResultStoreTest, ANewRunsResultIsItsOwn) {
  ResultStore store = this->store();
  add(store, "a", 0, 1);
  store.forget(kThirdWorker);
  EXPECT_EQ(content(), "");
}

TEST_F(ResultStoreTest, TheLastPartWaitsForTheFarCopy) {
  FakeFar far;
  ResultStore store = this->store(&far);
  EXPECT_EQ(add(store, "ab", 0, 3), "keeps 2");
  EXPECT_EQ(add(store, "c", 2, 3), "");
  EXPECT_THAT(far.kept, testing::ElementsAre("worker-3=abc"));
  far.waiting({});
  EXPECT_EQ(answer_, "keeps 3");
  EXPECT_EQ(content(), "");
  add(store, "x", 0, 1);
  far.waiting(base::unavailable("no room"));
  EXPECT_EQ(answer_, "no room");
  store.forget(kThirdWorker);
  EXPECT_THAT(far.removed, testing::ElementsAre("worker-3"));
}

}  // namespace
}  // namespace gangrun::agents
