#include "client/log_lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/json.h"
#include "base/unique_fd.h"
#include "client/test_context.h"

namespace gangrun::client {
namespace {

const std::vector<cluster::LogLine> kLines = {{{"worker", 0}, false, "one"},
                                              {{"ps", 0}, true, "\x1b[1mtwo"},
                                              {{"worker", 0}, false, "three\xff"}};

TEST(LogPrinter, WritesStreamsApartWithAlignedNames) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8});
  printer.print(kLines);
  EXPECT_EQ(test.out(), "worker:0 | one\nworker:0 | three\uFFFD\n");
  EXPECT_EQ(test.err(), "ps:0     | two\n");
}

// They became spaces, and `cut -f` found no fields.
TEST(LogPrinter, TabsStayForAProgram) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8});
  const job::TaskId task{"worker", 0};
  printer.print({{task, false, "loss\t0.5\t", cluster::LineEnd::kGoesOn}, {task, false, "a\tb"}});
  EXPECT_EQ(test.out(), "worker:0 | loss\t0.5\ta\tb\n");
}

TEST(LogPrinter, TimesStandInFrontOfAllElse) {
  const base::WallTime time{std::chrono::milliseconds(1'769'860'800'123)};
  const cluster::LogLine timed{{"worker", 0}, false, "one", cluster::LineEnd::kNewline, time};
  const cluster::LogLine old{{"worker", 1}, false, "two"};
  for (const bool prefix : {true, false}) {
    TestContext test;
    LogPrinter printer(test.context().console,
                       {.prefix = prefix, .prefix_width = 8, .times = true});
    printer.print({timed, old});
    EXPECT_EQ(test.out(), prefix ? "2026-01-31T12:00:00.123Z worker:0 | one\n"
                                   "-                        worker:1 | two\n"
                                 : "2026-01-31T12:00:00.123Z one\n"
                                   "-                        two\n");
    EXPECT_THAT(printer.without_times(), testing::ElementsAre(job::TaskId{"worker", 1}));
  }
  EXPECT_EQ(to_json(timed)["time"], "2026-01-31T12:00:00.123Z");
  EXPECT_FALSE(to_json(old).contains("time"));
}

TEST(LogPrinter, OneTasksOutputStaysAsItIsInAFile) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = false});
  printer.print(kLines);
  EXPECT_EQ(test.out(), "one\nthree\xff\n");
  EXPECT_EQ(test.err(), "\x1b[1mtwo\n");
}

TEST(LogPrinter, NothingIsAddedToOneTasksOutput) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = false});
  const job::TaskId task{"worker", 0};
  printer.print({{task, false, "a", cluster::LineEnd::kGoesOn},
                 {task, false, "b"},
                 {task, false, "c", cluster::LineEnd::kNone}});
  EXPECT_EQ(test.out(), "ab\nc");
}

TEST(LogPrinter, ALongLineHasOnePrefix) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8});
  const job::TaskId task{"worker", 0};
  const auto piece = [&](const char* text) {
    return cluster::LogLine{task, false, text, cluster::LineEnd::kGoesOn};
  };
  printer.print({piece("a"), piece("b")});
  printer.print({piece("c"), {task, false, "d"}});
  printer.print({piece("e"), {{"ps", 0}, false, "f"}, {task, false, "g"}});
  printer.print({piece("h")});
  printer.make_way();
  EXPECT_EQ(test.out(),
            "worker:0 | abcd\nworker:0 | e\nps:0     | f\nworker:0 | g\nworker:0 | h\n");
  printer.print({piece("i"), {task, true, "j"}});
  EXPECT_THAT(test.out(), testing::EndsWith("h\nworker:0 | i\n"));
  EXPECT_EQ(test.err(), "worker:0 | j\n");
}

TEST(LogPrinter, JsonHasWholeLinesAndSaysWhatIsAPiece) {
  TestContext test;
  LogPrinter printer(test.context().console, {.json = true});
  const job::TaskId task{"worker", 0};
  const std::string text(500'000, 'x');
  printer.print({{task, false, text, cluster::LineEnd::kGoesOn}});
  const auto piece = base::parse_json(test.out(), 1'000'000);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ((*piece)["line"], text);
  EXPECT_EQ((*piece)["partial"], true);
}

TEST(LogPrinter, JsonIsAlwaysValid) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8, .json = true});
  printer.print({kLines[2]});
  const auto json = base::parse_json(test.out(), 10'000);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["task"], "worker:0");
  EXPECT_EQ((*json)["stream"], "stdout");
  EXPECT_EQ((*json)["line"], "three\uFFFD");
  EXPECT_EQ((*json)["line"], "three\uFFFD");
  EXPECT_FALSE(json->contains("partial"));
}

// A console on a terminal of 40 columns, and what was written there since the last look.
class PseudoTerminal {
 public:
  PseudoTerminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(master_.get()), 0);
    EXPECT_EQ(::unlockpt(master_.get()), 0);
    std::array<char, 128> name{};
    EXPECT_EQ(::ptsname_r(master_.get(), name.data(), name.size()), 0);
    slave_.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios modes{};
    EXPECT_EQ(::tcgetattr(slave_.get(), &modes), 0);
    ::cfmakeraw(&modes);
    EXPECT_EQ(::tcsetattr(slave_.get(), TCSANOW, &modes), 0);
    const winsize size{.ws_row = 10, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::ioctl(slave_.get(), TIOCSWINSZ, &size), 0);
    Console::Options options;
    options.out = options.err = slave_.get();
    options.colour_allowed = false;
    console_.emplace(options);
  }

  [[nodiscard]] Console& console() { return *console_; }
  // Until the mark that is written now: what a terminal got before is read before it.
  [[nodiscard]] std::string written() {
    console_->out("#");
    std::string text;
    while (!text.ends_with('#')) {
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(master_.get(), buffer.data(), buffer.size());
      if (got <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    EXPECT_TRUE(text.ends_with('#')) << text;
    return text.substr(0, text.find('#'));
  }

 private:
  base::UniqueFd master_;
  base::UniqueFd slave_;
  std::optional<Console> console_;
};

cluster::LogLine bar_of(int index, std::string text) {
  return {{"worker", index}, true, std::move(text), cluster::LineEnd::kRedrawn};
}
cluster::LogLine line_of(int index, bool is_error, std::string text) {
  return {{"worker", index}, is_error, std::move(text)};
}

TEST(LogPrinter, ATerminalShowsAProgressBarInPlace) {
  PseudoTerminal terminal;
  LogPrinter printer(terminal.console(), {.prefix = false});
  printer.print({bar_of(0, "10%")});
  EXPECT_EQ(terminal.written(), "\r10%\x1b[K");
  printer.print({bar_of(0, "20%"), bar_of(0, "30%")});
  EXPECT_EQ(terminal.written(), "\r30%\x1b[K") << "as it is now";
  printer.print({bar_of(0, "30%")});
  EXPECT_EQ(terminal.written(), "");
  printer.print({line_of(0, true, "done")});
  EXPECT_EQ(terminal.written(), "\r\x1b[Kdone\n") << "its end is a line";
  printer.print({line_of(0, false, "more")});
  EXPECT_EQ(terminal.written(), "more\n");
}

TEST(LogPrinter, ATabTakesNoMoreThanItsColumnsBehindAName) {
  PseudoTerminal terminal;
  LogPrinter printer(terminal.console(), {.prefix = true, .prefix_width = 8});
  printer.print({line_of(0, false, "a\tb")});
  EXPECT_EQ(terminal.written(), "worker:0 | a       b\n");
}

TEST(LogPrinter, LinesStandAboveTheBarThatMovedLast) {
  PseudoTerminal terminal;
  LogPrinter printer(terminal.console(), {.prefix = true, .prefix_width = 8});
  printer.print({bar_of(0, "10%"), bar_of(1, "11%")});
  EXPECT_EQ(terminal.written(), "\rworker:1 | 11%\x1b[K");
  printer.print({line_of(0, false, "epoch 1"), line_of(1, false, "epoch 1")});
  EXPECT_EQ(terminal.written(),
            "\r\x1b[Kworker:0 | epoch 1\nworker:1 | epoch 1\n\rworker:1 | 11%\x1b[K");
  printer.print({bar_of(0, "20%")});
  EXPECT_EQ(terminal.written(), "\rworker:0 | 20%\x1b[K");
  printer.print({line_of(1, true, "done")});
  EXPECT_EQ(terminal.written(), "\r\x1b[Kworker:1 | done\n\rworker:0 | 20%\x1b[K");
  printer.print({line_of(0, true, "done")});
  EXPECT_EQ(terminal.written(), "\r\x1b[Kworker:0 | done\n");
}

TEST(LogPrinter, ABarTakesOneRowAndLeavesNothingBehind) {
  PseudoTerminal terminal;
  {
    LogPrinter printer(terminal.console(), {.prefix = false});
    printer.print({bar_of(0, std::string(100, '='))});
    EXPECT_EQ(terminal.written(), "\r" + std::string(38, '=') + "…\x1b[K");
  }
  EXPECT_EQ(terminal.written(), "\r\x1b[K") << "what follows has a line of its own";
}

TEST(LogPrinter, ABarDoesNotOverwriteAPieceOfALine) {
  PseudoTerminal terminal;
  LogPrinter printer(terminal.console(), {.prefix = false});
  printer.print({{{"worker", 0}, false, "a piece", cluster::LineEnd::kGoesOn}, bar_of(0, "10%")});
  EXPECT_EQ(terminal.written(), "a piece");
  printer.print({line_of(0, false, " and its end")});
  EXPECT_EQ(terminal.written(), " and its end\n\r10%\x1b[K");
}

TEST(LogPrinter, OnATerminalJsonHasALineForEachStateOfABar) {
  PseudoTerminal terminal;
  LogPrinter printer(terminal.console(), {.json = true});
  printer.print({bar_of(0, "10%")});
  const std::string written = terminal.written();
  EXPECT_TRUE(written.starts_with("{") && written.ends_with("}\n")) << written;
  EXPECT_NE(written.find("\"redrawn\":true"), std::string::npos) << written;
  EXPECT_EQ(redraw_pace(terminal.console(), true), cluster::kRedrawPace);
  EXPECT_LT(redraw_pace(terminal.console(), false), cluster::kRedrawPace);
}

TEST(LogPrinter, AFileGetsALineForEachStateOfABar) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8});
  printer.print({bar_of(0, "10%"), bar_of(0, "20%")});
  EXPECT_EQ(test.err(), "worker:0 | 10%\nworker:0 | 20%\n");
  EXPECT_EQ(redraw_pace(test.context().console, false), cluster::kRedrawPace);
}

const job::TaskId kWorker{"worker", 0};
const job::TaskId kOther{"worker", 1};

TEST(RecentLines, AreThoseOfTheTaskThatCameLast) {
  RecentLines recent;
  EXPECT_TRUE(recent.have(kWorker, {}));
  recent.add({{kWorker, true, "Traceback"}, {kOther, true, "other"}, {kWorker, false, "end"}});
  EXPECT_TRUE(recent.have(kWorker, {"Traceback", "end"}));
  EXPECT_FALSE(recent.have(kWorker, {"Traceback", "other"}));
  // Nobody looks for what has scrolled away.
  recent.add(std::vector<cluster::LogLine>(RecentLines::kMost - 1, {kOther, true, "flood"}));
  EXPECT_TRUE(recent.have(kWorker, {"end"}));
  EXPECT_FALSE(recent.have(kWorker, {"Traceback", "end"}));
  recent.add(std::vector<cluster::LogLine>(RecentLines::kMost + 5, {kOther, true, "flood"}));
  EXPECT_FALSE(recent.have(kWorker, {"end"}));
}

TEST(RecentLines, OfLongOnesNothingIsKept) {
  RecentLines recent;
  const std::string longest(RecentLines::kLongest, 'x');
  recent.add({{kWorker, true, longest}, {kWorker, true, longest + "x"}});
  EXPECT_TRUE(recent.have(kWorker, {longest}));
  EXPECT_FALSE(recent.have(kWorker, {longest + "x"}));
}

}  // namespace
}  // namespace gangrun::client
