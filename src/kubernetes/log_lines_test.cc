#include <gtest/gtest.h>

#include <vector>

#include "kubernetes/log_stream.h"

namespace gangrun::kubernetes {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kTime = "2026-01-31T12:00:00.123456789Z";

Lines read(const std::vector<std::string_view>& pieces) {
  LogLines lines;
  Lines out;
  const LogLines::OnLine on_line = [&](std::string_view time, std::string_view text) {
    out.emplace_back(time, text);
    return true;
  };
  for (const std::string_view piece : pieces) lines.put(piece, on_line);
  lines.finish(on_line);
  return out;
}

TEST(LogLines, TheSameWhereverTheBytesAreSplit) {
  const std::string text = std::string(kTime) + " one\n" + kTime + " \n" +
                           "2026-01-31T12:00:01+01:00 50%\r100%\r\n" +
                           "failed to watch the file: too many open files\n\n" + kTime + " last";
  const Lines expected = {{kTime, "one"},
                          {kTime, ""},
                          {"2026-01-31T12:00:01+01:00", "50%\r100%"},
                          {"", "failed to watch the file: too many open files"},
                          {"", ""},
                          {kTime, "last"}};
  for (std::size_t split = 0; split <= text.size(); ++split) {
    const std::string_view all = text;
    EXPECT_EQ(read({all.substr(0, split), all.substr(split)}), expected) << split;
  }
}

TEST(LogLines, OnlyTimesAreTakenForTimes) {
  for (const char* line :
       {"2026-01-31T12:00:00 x", "2026-01-31T12:00:00Zulu x", "Z x", "2026-01-31 12:00:00Z00 x",
        "9999999999999999999999 x", "2026-01-31T12:00:00.1234567890123456789Z x"}) {
    EXPECT_EQ(read({line}), (Lines{{"", line}})) << line;
  }
  EXPECT_EQ(read({kTime, "\n"}), (Lines{{kTime, ""}}));
}

TEST(LogLines, AVeryLongLineComesInPiecesOfItsTime) {
  const std::string head = std::string(kTime) + " ";
  const std::string text = head + std::string(2 * kMaxLogLineBytes, 'x');
  for (const std::string& end : {std::string(), std::string("\n")}) {
    const Lines lines = read({text + end + head + "next\n"});
    ASSERT_GE(lines.size(), 3U);
    EXPECT_EQ(lines[0].first, kTime);
    EXPECT_EQ(lines[0].second.size(), kMaxLogLineBytes - head.size());
    EXPECT_EQ(lines[1].first, kTime);
    EXPECT_EQ(lines[1].second.size(), kMaxLogLineBytes);
    EXPECT_EQ(lines[2].first, kTime);
    EXPECT_EQ(lines[2].second.size(), end.empty() ? 2 * head.size() + 4 : head.size());
  }
  // In small pieces likewise.
  LogLines small;
  std::size_t told = 0;
  for (std::size_t at = 0; at < text.size(); at += 1000) {
    small.put(std::string_view(text).substr(at, 1000),
              [&](std::string_view time, std::string_view) {
                EXPECT_EQ(time, kTime);
                ++told;
                return true;
              });
  }
  EXPECT_EQ(told, 2U);
}

TEST(LogLines, WhoWantsNoMoreGetsNoMore) {
  LogLines lines;
  int told = 0;
  EXPECT_FALSE(lines.put("a\nb\n", [&](std::string_view, std::string_view) {
    ++told;
    return false;
  }));
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace gangrun::kubernetes
