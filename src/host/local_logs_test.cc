#include "host/local_logs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LocalLogsTest : public testing::Test {
 protected:
  LocalLogsTest() {
    std::string name = testing::TempDir() + "local_logs_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    for (int i = 0; i < 2; ++i) {
      job::TaskStatus task;
      task.task = {"worker", i};
      task.log_path = base::format("{}/worker-{}", folder_, i);
      tasks_.push_back(task);
    }
  }
  ~LocalLogsTest() override { std::filesystem::remove_all(folder_); }

  void append(const std::string& name, std::string_view text) {
    const std::string path = folder_ + "/" + name;
    const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    ASSERT_TRUE(base::write_all(fd.get(), text, path).ok());
  }

  std::vector<std::string> next(LocalLogs& logs, base::Duration wait = base::seconds(0)) {
    const auto lines = logs.next(clock_.now() + wait);
    return lines.ok() ? texts(*lines) : std::vector<std::string>{lines.error().message};
  }

  static std::vector<std::string> texts(const std::vector<cluster::LogLine>& lines) {
    std::vector<std::string> texts;
    for (const cluster::LogLine& line : lines) {
      texts.push_back(
          base::format("{}{}{}", job::to_string(line.task), line.is_error ? "!" : " ", line.text));
    }
    return texts;
  }

  base::SystemClock clock_;
  std::string folder_;
  std::vector<job::TaskStatus> tasks_;
};

TEST_F(LocalLogsTest, ReadsWhatIsThereInTheOrderOfTheTasks) {
  append("worker-1.out", "c\n");
  append("worker-0.err", "b\n");
  append("worker-0.out", "a\n\nz");
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 a", "worker:0 ", "worker:0!b", "worker:1 c"));
  EXPECT_THAT(next(**logs), IsEmpty());
  EXPECT_THAT(texts((*logs)->rest()), ElementsAre("worker:0 z"));
}

TEST_F(LocalLogsTest, LinesHaveTheTimeThatStandsBesideTheirLog) {
  const base::WallTime first{std::chrono::seconds(1'769'860'800)};
  const base::WallTime later = first + std::chrono::seconds(60);
  append("worker-0.out.times", "0 1769860800000\n8 1769860860000\n");
  append("worker-0.out", "one\ntwo\nthree\n");
  append("worker-1.out", "of before\n");
  const auto lines_of = [&](const cluster::LogRequest& request) {
    auto logs = LocalLogs::open(folder_, tasks_, request);
    return logs.ok() ? *(*logs)->next(clock_.now()) : std::vector<cluster::LogLine>();
  };
  const cluster::LogLine of_before{{"worker", 1}, false, "of before"};
  EXPECT_THAT(
      lines_of({.times = true}),
      ElementsAre(
          cluster::LogLine{{"worker", 0}, false, "one", cluster::LineEnd::kNewline, first},
          cluster::LogLine{{"worker", 0}, false, "two", cluster::LineEnd::kNewline, first},
          cluster::LogLine{{"worker", 0}, false, "three", cluster::LineEnd::kNewline, later},
          of_before));
  // A line without a time may have been written since, too.
  EXPECT_THAT(
      lines_of({.since = first + std::chrono::seconds(1)}),
      ElementsAre(
          cluster::LogLine{{"worker", 0}, false, "three", cluster::LineEnd::kNewline, later},
          of_before));
  EXPECT_THAT(lines_of({.since = later + std::chrono::seconds(1)}), ElementsAre(of_before));
  EXPECT_THAT(
      lines_of({.tail = 2, .since = first}),
      ElementsAre(
          cluster::LogLine{{"worker", 0}, false, "two", cluster::LineEnd::kNewline, first},
          cluster::LogLine{{"worker", 0}, false, "three", cluster::LineEnd::kNewline, later},
          of_before));
  EXPECT_EQ(lines_of({}).front().time, std::nullopt);
}

// The task's agent goes on writing to what has no name any more.
TEST_F(LocalLogsTest, ALogThatIsRemovedIsAnErrorAndNotTheEndOfItsLines) {
  append("worker-0.out", "a\n");
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  (*logs)->watch();
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 a"));
  append("worker-1.out", "b\n");
  std::filesystem::remove(folder_ + "/worker-1.out");
  EXPECT_THAT(next(**logs), ElementsAre(folder_ + "/worker-1.out has been removed; what worker:1 "
                                                  "writes is not shown any more"));
}

// The first new line had the beginning of an old one in front.
TEST_F(LocalLogsTest, ALogThatIsCutIsReadFromItsBeginning) {
  append("worker-0.out", "one\ntwo, an");
  const auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok()) << logs.error().message;
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 one"));
  std::filesystem::resize_file(folder_ + "/worker-0.out", 0);
  append("worker-0.out", "three\n");
  EXPECT_THAT(next(**logs, base::seconds(20)), ElementsAre("worker:0 two, an", "worker:0 three"));
}

TEST_F(LocalLogsTest, ReadsOnlyWhatIsAskedFor) {
  append("worker-0.out", "a\n");
  append("worker-1.out", "b\n");
  append("worker-1.err", "c\n");
  cluster::LogRequest request;
  request.task = job::TaskId{"worker", 1};
  request.output = false;
  auto logs = LocalLogs::open(folder_, tasks_, request);
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), ElementsAre("worker:1!c"));
  request.task = job::TaskId{"ps", 0};
  const auto wrong = LocalLogs::open(folder_, tasks_, request);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, base::Code::kNotFound);
}

// Its own end costs more than many a job.
TEST_F(LocalLogsTest, IsWatchedOnlyWhereSomebodyWaits) {
  append("worker-0.out", "a\n");
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 a"));
  append("worker-0.out", "b\n");
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 b"));
  EXPECT_EQ((*logs)->changed_fd(), -1);
  append("worker-0.out", "c\n");
  (*logs)->watch();
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 c")) << "came before the watch";
  EXPECT_GE((*logs)->changed_fd(), 0);
}

TEST_F(LocalLogsTest, FollowsFilesThatAppearAndGrow) {
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), IsEmpty());
  append("worker-1.out", "first ");
  EXPECT_THAT(next(**logs), IsEmpty());
  append("worker-1.out", "line\nsecond\n");
  EXPECT_THAT(next(**logs, base::seconds(30)),
              ElementsAre("worker:1 first line", "worker:1 second"));
  std::jthread writer([this] { append("worker-0.err", "later\n"); });
  EXPECT_THAT(next(**logs, base::seconds(30)), ElementsAre("worker:0!later"));
}

TEST_F(LocalLogsTest, LosesNothingOfALargeFile) {
  constexpr int kLines = 20'000;
  const std::string filler(3 * kMaxBatchBytes / kLines, 'x');
  std::string text;
  for (int i = 0; i < kLines; ++i) text += base::format("{} {}\n", filler, i);
  append("worker-0.out", text);
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  std::size_t lines = 0;
  int calls = 0;
  std::string last;
  for (auto batch = next(**logs); !batch.empty(); batch = next(**logs)) {
    lines += batch.size();
    last = batch.back();
    ++calls;
  }
  EXPECT_EQ(lines, std::size_t{kLines});
  EXPECT_EQ(last, base::format("worker:0 {} {}", filler, kLines - 1));
  EXPECT_GT(calls, 1) << "in parts that fit into memory";
}

TEST_F(LocalLogsTest, ALongLineIsWholeUpToALimitAndThenInPiecesThatSaySo) {
  const std::string whole(kMaxWholeLine - kLogBlock, 'x');
  append("worker-0.out", whole + "\n");
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 " + whole));

  // An odd number of bytes before, so that a block ends in the middle of a character.
  std::string endless = "x";
  while (endless.size() < 2 * kMaxWholeLine) endless += "ä";
  append("worker-0.out", endless + "\n");
  std::string joined;
  std::vector<cluster::LogLine> pieces;
  while (joined.size() < endless.size()) {
    auto lines = (*logs)->next(clock_.now());
    ASSERT_TRUE(lines.ok() && !lines->empty());
    for (cluster::LogLine& line : *lines) {
      EXPECT_TRUE(base::is_valid_utf8(line.text));
      joined += line.text;
      pieces.push_back(std::move(line));
    }
  }
  EXPECT_EQ(joined, endless);
  ASSERT_GE(pieces.size(), 2U);
  EXPECT_EQ(pieces.front().end, cluster::LineEnd::kGoesOn);
  EXPECT_EQ(pieces.back().end, cluster::LineEnd::kNewline);
}

TEST_F(LocalLogsTest, AProgressBarIsGivenAtAPaceAndItsEndAsALine) {
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  append("worker-0.err", "\r10%\r20%");
  EXPECT_THAT(next(**logs), IsEmpty());
  const cluster::LogLine bar{{"worker", 0}, true, "20%", cluster::LineEnd::kRedrawn};
  EXPECT_THAT(*(*logs)->next(clock_.now() + base::seconds(30)), ElementsAre(bar));
  EXPECT_THAT(next(**logs), IsEmpty()) << "once";
  std::string redrawn;
  for (int i = 0; i < 1000; ++i) redrawn += base::format("\r{}", i);
  append("worker-0.err", redrawn);
  append("worker-0.err", "\rdone\r\n");
  EXPECT_THAT(next(**logs), ElementsAre("worker:0!done"));
  append("worker-0.err", "\r1\r2\r");
  EXPECT_THAT(next(**logs), IsEmpty());
  EXPECT_THAT(texts((*logs)->rest()), ElementsAre("worker:0!2"));
}

TEST_F(LocalLogsTest, AsItIsNothingWaitsForItsEnd) {
  cluster::LogRequest request;
  request.as_it_is = true;
  auto logs = LocalLogs::open(folder_, tasks_, request);
  ASSERT_TRUE(logs.ok());
  const cluster::LogLine piece{{"worker", 0}, false, "half", cluster::LineEnd::kGoesOn};
  append("worker-0.out", "half");
  EXPECT_THAT(*(*logs)->next(clock_.now()), ElementsAre(piece));
  append("worker-0.out", " and half\n");
  EXPECT_THAT(*(*logs)->next(clock_.now()),
              ElementsAre(cluster::LogLine{{"worker", 0}, false, " and half"}));
  EXPECT_THAT((*logs)->rest(), IsEmpty());
  append("worker-0.out", "no end");
  ASSERT_TRUE((*logs)->next(clock_.now()).ok());
  const cluster::LogLine none{{"worker", 0}, false, "", cluster::LineEnd::kNone};
  EXPECT_THAT((*logs)->rest(), ElementsAre(none));
}

TEST_F(LocalLogsTest, AFileThatWasMadeAnewIsReadFromItsStart) {
  append("worker-0.out", "a long first run\n");
  auto logs = LocalLogs::open(folder_, tasks_, {});
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), ElementsAre("worker:0 a long first run"));
  std::filesystem::resize_file(folder_ + "/worker-0.out", 0);
  append("worker-0.out", "again\n");
  EXPECT_THAT(next(**logs, base::seconds(30)), ElementsAre("worker:0 again"));
}

TEST_F(LocalLogsTest, TailCountsFromTheEnd) {
  const std::string path = folder_ + "/worker-0.out";
  append("worker-0.out", "a\nb\nc\n");
  EXPECT_EQ(*offset_of_tail(path, 0), 6);
  EXPECT_EQ(*offset_of_tail(path, 1), 4);
  EXPECT_EQ(*offset_of_tail(path, 3), 0);
  EXPECT_EQ(*offset_of_tail(path, 9), 0);
  append("worker-0.out", "d");
  EXPECT_EQ(*offset_of_tail(path, 1), 6);
  EXPECT_EQ(*offset_of_tail(folder_ + "/none", 5), 0);
  append("worker-1.out", "\n" + std::string(2 * kLogBlock, 'x') + "\ny\n");
  EXPECT_EQ(*offset_of_tail(folder_ + "/worker-1.out", 2), 1);
  cluster::LogRequest request;
  request.tail = 1;
  auto logs = LocalLogs::open(folder_, tasks_, request);
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(next(**logs), ElementsAre("worker:1 y"));
}

TEST_F(LocalLogsTest, AMissingFolderIsAnError) {
  const auto logs = LocalLogs::open(folder_ + "/none", tasks_, {});
  ASSERT_FALSE(logs.ok());
  EXPECT_EQ(logs.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace gangrun::host
