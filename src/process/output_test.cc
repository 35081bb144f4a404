#include "process/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace gangrun::process {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Output : public testing::Test {
 protected:
  Output() {
    std::string name = "/tmp/gangrun-output-XXXXXX";
    folder = ::mkdtemp(name.data());
    log = folder + "/log";
  }
  ~Output() override {
    ::umount2(folder.c_str(), MNT_DETACH);
    std::filesystem::remove_all(folder);
  }

  std::unique_ptr<OutputPump> pump(const std::string& path) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    writer.reset(ends[1]);
    OutputPump::Callbacks callbacks;
    callbacks.on_line = [this](std::string_view line) { lines.emplace_back(line); };
    callbacks.on_log_failed = [this](const base::Error& error) { errors.push_back(error); };
    return std::make_unique<OutputPump>(base::UniqueFd(ends[0]), path, std::move(callbacks));
  }
  void put(std::string_view text) const {
    ASSERT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Puts and reads in portions that fit the pipe.
  void feed(OutputPump& target, std::string_view text) const {
    constexpr std::size_t kPortion = 32768;
    for (; !text.empty(); text.remove_prefix(std::min(kPortion, text.size()))) {
      put(text.substr(0, kPortion));
      EXPECT_TRUE(target.on_readable());
    }
  }
  std::string logged() const {
    std::ifstream file(log);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder;
  std::string log;
  base::UniqueFd writer;
  std::vector<std::string> lines;
  std::vector<base::Error> errors;
};

TEST_F(Output, TheSameLinesWhereverTheBytesAreSplit) {
  const std::string text = "one\n\ntwo\r\n10%\r50%\r100%\n\r\nlast";
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      lines.clear();
      std::filesystem::remove(log);
      const auto target = pump(log);
      put(std::string_view(text).substr(0, first));
      EXPECT_TRUE(target->on_readable());
      put(std::string_view(text).substr(first, second - first));
      EXPECT_TRUE(target->on_readable());
      put(std::string_view(text).substr(second));
      writer.reset();
      target->finish();
      ASSERT_THAT(lines, ElementsAre("one", "", "two", "100%", "", "last")) << first << second;
      ASSERT_EQ(logged(), text);
      EXPECT_EQ(target->bytes(), text.size());
    }
  }
}

// With PYTHONUNBUFFERED, print("a", "b") are four writes.
TEST_F(Output, ASharedLogGetsWholeLines) {
  const auto first = pump(log);
  first->share_log("0");
  const base::UniqueFd writer_of_first = std::move(writer);
  const auto second = pump(log);
  second->share_log("17");
  const auto put_first = [&](std::string_view text) {
    ASSERT_EQ(::write(writer_of_first.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    EXPECT_TRUE(first->on_readable());
  };
  put_first("found:");
  feed(*second, "found: 2\nno end");
  EXPECT_EQ(logged(), "[17] found: 2\n");
  put_first(" 1\n10%\r");
  EXPECT_EQ(logged(), "[17] found: 2\n[0] found: 1\n[0] 10%\r");
  put_first("\n");
  put_first("20%\r\n");
  second->finish();
  EXPECT_EQ(logged(), "[17] found: 2\n[0] found: 1\n[0] 10%\r\n[0] 20%\r\n[17] no end\n");
  EXPECT_THAT(lines,
              ElementsAre("[17] found: 2", "[0] found: 1", "[0] 10%", "[0] 20%", "[17] no end"));
  EXPECT_THAT(first->last_lines(), ElementsAre("found: 1", "10%", "20%"))
      << "a traceback is found in what the process wrote";
}

TEST_F(Output, ASharedLogDoesNotWaitForTheEndOfAnEndlessLine) {
  const auto target = pump(log);
  target->share_log("1");
  feed(*target, std::string(kMaxLineBytes, 'x'));
  EXPECT_EQ(logged(), "");
  feed(*target, "y");
  EXPECT_EQ(logged(), "[1] " + std::string(kMaxLineBytes, 'x') + "y");
  feed(*target, "z\n");
  target->finish();
  EXPECT_EQ(logged(), "[1] " + std::string(kMaxLineBytes, 'x') + "yz\n");
}

TEST_F(Output, SaysWhenNothingWillComeAnyMore) {
  const auto target = pump(log);
  EXPECT_TRUE(target->on_readable()) << "an empty pipe does not block";
  put("a");
  EXPECT_TRUE(target->on_readable());
  EXPECT_THAT(lines, IsEmpty());
  writer.reset();
  EXPECT_FALSE(target->on_readable());
  target->finish();
  target->finish();
  EXPECT_THAT(lines, ElementsAre("a"));
}

TEST_F(Output, FinishDoesNotWaitForAWriterThatEscaped) {
  const auto target = pump(log);
  put("part");
  target->finish();
  EXPECT_THAT(lines, ElementsAre("part"));
}

TEST_F(Output, ALineAtTheLimitIsWholeAndALongerOneIsCutAndTold) {
  for (const std::size_t extra : {std::size_t{0}, std::size_t{1}, 3 * kMaxLineBytes}) {
    lines.clear();
    std::filesystem::remove(log);
    const auto target = pump(log);
    const std::string line(kMaxLineBytes + extra, 'x');
    feed(*target, line + "\nnext\n");
    ASSERT_THAT(lines, SizeIs(2));
    if (extra == 0) {
      EXPECT_EQ(lines[0], line);
    } else {
      EXPECT_EQ(lines[0].substr(0, kMaxLineBytes), line.substr(0, kMaxLineBytes));
      EXPECT_THAT(lines[0].substr(kMaxLineBytes), HasSubstr(fmt::format("({} bytes", extra)));
    }
    EXPECT_EQ(lines[1], "next");
    EXPECT_EQ(logged(), line + "\nnext\n") << "the log has it all";
  }
}

TEST_F(Output, KeepsTheLastLines) {
  const auto target = pump(log);
  for (int i = 0; i < 1000; ++i) feed(*target, fmt::format("line {}\n", i));
  const auto last = target->last_lines();
  ASSERT_THAT(last, SizeIs(kKeptLines));
  EXPECT_EQ(last.front(), fmt::format("line {}", 1000 - kKeptLines));
  EXPECT_EQ(last.back(), "line 999");
}

TEST_F(Output, KeepsTheLastLinesHoweverLongTheyAre) {
  const auto target = pump(log);
  for (int i = 0; i < 50; ++i) feed(*target, std::string(kMaxLineBytes - 1, 'y') + "\n");
  EXPECT_THAT(target->last_lines(), SizeIs(kKeptLines));
}

TEST_F(Output, FindsATracebackThatIsLongerThanTheLastLines) {
  const auto target = pump(log);
  feed(*target, "Traceback (most recent call last):\n");
  for (int i = 0; i < 100; ++i) feed(*target, "  File \"x.py\", line 1, in f\n");
  feed(*target, "ValueError: deep\n");
  for (int i = 0; i < 50; ++i) feed(*target, "cleaning up\n");
  const auto found = target->traceback();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->starts_with("Traceback"));
  EXPECT_TRUE(found->ends_with("ValueError: deep"));
}

TEST_F(Output, AProgressBarIsSeenBeforeItsLineEnds) {
  const auto target = pump(log);
  target->tell_redrawn();
  feed(*target, "\r10%\r20%");
  EXPECT_THAT(lines, IsEmpty());
  target->tell_redrawn();
  target->tell_redrawn();
  EXPECT_THAT(lines, ElementsAre("20%\r")) << "once";
  feed(*target, "\r100%\n");
  target->tell_redrawn();
  EXPECT_THAT(lines, ElementsAre("20%\r", "100%"));
  EXPECT_EQ(target->last_lines(), std::vector<std::string>{"100%"});
  EXPECT_EQ(logged(), "\r10%\r20%\r100%\n");
}

TEST_F(Output, ALogThatIsNoFileIsToldOnceAndThePipeIsReadOn) {
  const auto target = pump("/dev/full");
  feed(*target, "one\n");
  feed(*target, "two\n");
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].code, base::Code::kFailedPrecondition);
  EXPECT_THAT(errors[0].message, HasSubstr("/dev/full"));
  ASSERT_TRUE(target->log_error());
  EXPECT_EQ(target->log_error()->message, errors[0].message);
  EXPECT_EQ(target->lost_lines(), 2U);
}

// The beginning of a line was lost and its end was kept, and nothing said so.
TEST_F(Output, ALogMayBeADescriptorAndHasNoTimesThen) {
  const auto target = pump("");
  target->log_to(base::UniqueFd(::open(log.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)),
                 "standard output");
  feed(*target, "one\ntwo");
  target->finish();
  EXPECT_EQ(logged(), "one\ntwo");
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    files.push_back(file.path().filename());
  }
  EXPECT_THAT(files, ElementsAre("log"));
  const auto broken = pump("");
  broken->log_to(base::UniqueFd(::open("/dev/full", O_WRONLY | O_CLOEXEC)), "standard output");
  feed(*broken, "three\n");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].message, HasSubstr("standard output"));
}

TEST_F(Output, ALineOfWhichAPieceIsLostIsCounted) {
  const std::string place = folder + "/later";
  const auto target = pump(place + "/log");
  feed(*target, "begin");
  feed(*target, "ning, ");
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  feed(*target, "middle, ");
  feed(*target, "end\nwhole\n");
  EXPECT_EQ(target->lost_lines(), 1U);
  std::ifstream file(place + "/log");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("1 line is missing here"));
  EXPECT_THAT(text, EndsWith("\nmiddle, end\nwhole\n"));
}

TEST_F(Output, APieceAtTheEndThatIsLostIsCountedOnce) {
  const auto target = pump(folder + "/none/log");
  feed(*target, "one\ntwo, ");
  feed(*target, "still two\nthree");
  EXPECT_EQ(target->lost_lines(), 3U);
}

// A file system that fills up in the middle; only root can make one, and for others there is
// the test above.
TEST_F(Output, ADiskThatFillsUpKeepsWhatCameBefore) {
  const bool mounted =
      ::mount("gangrun-test", folder.c_str(), "tmpfs", 0, "size=64k,mode=0777") == 0;
  const auto target = pump(log);
  const std::string line(1000, 'z');
  for (int i = 0; i < 100; ++i) feed(*target, line + "\n");
  EXPECT_THAT(lines, SizeIs(100));
  EXPECT_THAT(errors, SizeIs(mounted ? 1 : 0));
  EXPECT_THAT(logged(), HasSubstr(line));
  EXPECT_EQ(logged().size() < 100 * 1001, mounted);
  if (!mounted) return;
  const auto whole = static_cast<std::uint64_t>(logged().size() / 1001);
  EXPECT_EQ(target->lost_lines(), 100 - whole);
  ASSERT_EQ(::mount("gangrun-test", folder.c_str(), "tmpfs", MS_REMOUNT, "size=256k,mode=0777"), 0);
  feed(*target, "there is room\n");
  EXPECT_THAT(logged(), HasSubstr(base::format("{} lines are missing here", 100 - whole)));
  EXPECT_THAT(logged(), EndsWith("\nthere is room\n"));
  EXPECT_EQ(target->lost_lines(), 100 - whole);
}

TEST_F(Output, OfALogWithALimitWholeLinesAreKeptAndTheRestIsCounted) {
  const auto room = std::make_shared<LogRoom>(LogRoom{20, 20});
  const auto target = pump(log);
  target->limit_log(room);
  feed(*target, "0123456789\n");
  feed(*target, "one\ntwo\nthree\n");
  feed(*target, "four\n");
  EXPECT_EQ(logged(), "0123456789\none\ntwo\n");
  EXPECT_THAT(lines, ElementsAre("0123456789", "one", "two", "three", "four"));
  EXPECT_EQ(target->lost_lines(), 2U);
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].message, "log_limit (20 B) is reached");
  target->finish();
  EXPECT_EQ(logged(),
            "0123456789\none\ntwo\n\ngangrun: 2 lines are missing here: log_limit (20 B) is "
            "reached\n");
}

// It did not say whose lines they are.
TEST_F(Output, InASharedLogTheProcessThatLacksLinesIsNamed) {
  const auto target = pump(log);
  target->share_log("1");
  target->limit_log(std::make_shared<LogRoom>(LogRoom{.limit = 40, .left = 11}));
  feed(*target, "one\ntwo\n");
  target->finish();
  EXPECT_EQ(logged(),
            "[1] one\n\n[1] gangrun: 1 line is missing here: log_limit (40 B) is reached\n");
}

TEST_F(Output, TheRoomForALogIsThatOfAllItsPumps) {
  const auto room = std::make_shared<LogRoom>(LogRoom{8, 8});
  const auto first = pump(log);
  first->limit_log(room);
  feed(*first, "one\n");
  const auto second = pump(log + ".other");
  second->limit_log(room);
  feed(*second, "two\n");
  EXPECT_EQ(room->left, 0U);
  EXPECT_THAT(errors, IsEmpty());
  feed(*second, "three\n");
  EXPECT_THAT(errors, SizeIs(1));
  EXPECT_EQ(second->lost_lines(), 1U);
  first->finish();
  EXPECT_EQ(logged(), "one\n");
}

// A task wrote much, and then the traceback that was not in its log.
TEST_F(Output, OfALogWithALimitTheEndIsKeptToo) {
  const auto room = std::make_shared<LogRoom>(LogRoom{.limit = 40, .left = 11, .end = 12});
  const auto target = pump(log);
  target->limit_log(room);
  feed(*target, "0123456789\n");
  feed(*target, "one\ntwo\nthree\nfour\n");
  target->finish();
  EXPECT_EQ(logged(),
            "0123456789\n\ngangrun: 2 lines are missing here: log_limit (40 B) is reached\n"
            "three\nfour\n");
  EXPECT_EQ(target->lost_lines(), 2U);
  EXPECT_THAT(errors, SizeIs(1));
}

TEST_F(Output, NothingIsLostOfALogWhoseEndFits) {
  const auto target = pump(log);
  target->limit_log(std::make_shared<LogRoom>(LogRoom{.limit = 40, .left = 4, .end = 20}));
  feed(*target, "one\n");
  feed(*target, "two, ");
  feed(*target, "and more\nthree");
  EXPECT_EQ(logged(), "one\n");
  target->finish();
  EXPECT_EQ(logged(), "one\ntwo, and more\nthree");
  EXPECT_EQ(target->lost_lines(), 0U);
  EXPECT_THAT(errors, IsEmpty());
}

TEST_F(Output, OfAFloodTheLastWholeLinesAreTheEnd) {
  const auto target = pump(log);
  target->limit_log(std::make_shared<LogRoom>(LogRoom{.limit = 40, .left = 0, .end = 2500}));
  const std::string rest(996, 'z');
  for (int i = 0; i < 100; ++i) feed(*target, base::format("{:03}{}\n", i, rest));
  target->finish();
  EXPECT_EQ(target->lost_lines(), 98U);
  EXPECT_EQ(logged(), base::format("\ngangrun: 98 lines are missing here: log_limit (40 B) is "
                                   "reached\n098{}\n099{}\n",
                                   rest, rest));
}

TEST(LogRoom, LeavesSomeToTheEndsAndToLaterRuns) {
  LogRoom room{.limit = 1U << 20U, .left = 1U << 20U};
  room.set_ends_aside(2);
  EXPECT_EQ(room.end, 16U << 10U);
  EXPECT_EQ(room.left, 768U << 10U);
  LogRoom large{.limit = 1U << 30U, .left = 1U << 30U};
  large.set_ends_aside(2);
  EXPECT_EQ(large.end, kMaxEndBytes);
  EXPECT_EQ(large.left, (1U << 30U) - 16 * kMaxEndBytes);
}

// The last of several runs had no room for its traceback.
TEST(LogRoom, HasSomeForTheEndsOfLaterRuns) {
  LogRoom room{.limit = 1U << 20U, .left = 1U << 20U};
  std::uint64_t used = 0;
  for (int run = 0; run < 8; ++run) {
    room.left = room.limit - used;
    room.set_ends_aside(2);
    EXPECT_EQ(room.end, 16U << 10U) << run;
    used += room.left + 2 * room.end;
  }
  EXPECT_EQ(used, room.limit);
  room.left = 15;
  room.set_ends_aside(2);
  EXPECT_EQ(room.end, 7U);
  EXPECT_EQ(room.left, 0U);
}

TEST_F(Output, AFolderThatIsMissingIsTold) {
  const auto target = pump(folder + "/none/log");
  feed(*target, "one\n");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].message, HasSubstr("/none/log"));
  EXPECT_THAT(lines, ElementsAre("one"));
}

TEST_F(Output, TheLogIsPrivateAndAppendedTo) {
  const mode_t before = ::umask(0);
  for (int i = 0; i < 2; ++i) feed(*pump(log), "again\n");
  ::umask(before);
  EXPECT_EQ(logged(), "again\nagain\n");
  struct stat info {};
  ASSERT_EQ(::stat(log.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(Output, AFloodIsReadInPortions) {
  const auto target = pump(log);
  const int capacity = ::fcntl(writer.get(), F_SETPIPE_SZ, 1 << 20);
  ASSERT_GT(capacity, 0);
  const std::string flood(static_cast<std::size_t>(capacity), '\n');
  put(flood);
  EXPECT_TRUE(target->on_readable());
  EXPECT_GE(target->bytes(), std::min(kMaxReadBytes, flood.size()));
  EXPECT_LT(target->bytes(), kMaxReadBytes + 65537);
  target->finish();
  EXPECT_EQ(target->bytes(), flood.size());
}

}  // namespace
}  // namespace gangrun::process
