#include "wire/exec_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "base/test_described.h"
#include "base/test_project_files.h"

namespace gangrun::wire {
namespace {

using testing::HasSubstr;

TEST(ExecFrames, EachIsReadAsItWasWritten) {
  const ExecFrame frames[] = {
      ExecFlow{ExecStream::kMain, "dbytes\n"},
      ExecFlow{ExecStream::kErrors, std::string_view("d\0\xff", 3)},
      ExecBegin{{"sh", "-c", "echo \xff \"two\""}, ExecWindow{50, 132}, "xterm"},
      ExecBegin{{}, std::nullopt, ""},
      ExecWindow{1, 10'000},
      ExecSignal{2},
      ExecExit{130, ""},
      ExecExit{127, "cannot start x: it is in none of the folders of PATH"},
  };
  for (const ExecFrame& frame : frames) {
    const std::string text = to_frame(frame);
    const auto read = parse_exec_frame(text);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, frame) << text;
  }
}

// Those that have a table in docs/protocols/registry.md.
using ExecMessage = std::variant<ExecBegin, ExecWindow, ExecSignal, ExecExit>;

TEST(ExecFrames, AreInTheDocumentAndTheFuzzersCorpus) {
  base::expect_in_document<ExecMessage>("docs/protocols/registry.md", "messages of a command");
  const auto expect_in_corpus = [](const ExecFrame& sample) {
    const std::string frame = to_frame(sample);
    const auto read = parse_exec_frame(frame);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, sample);
    base::expect_made("fuzz/corpus/exec/message_" + frame.substr(0, 1), frame);
  };
  for (const ExecMessage& each : base::sample_of_each(static_cast<const ExecMessage*>(nullptr))) {
    std::visit(expect_in_corpus, each);
  }
}

TEST(ExecFrames, AWrongOneIsRefusedInWords) {
  const struct {
    std::string frame;
    std::string words;
  } rows[] = {
      {"", "an empty message"},
      {"q{}", "unknown kind"},
      {"b", "JSON"},
      {"b{}", "\"command\" is missing"},
      {R"(b{"command":"ls"})", "\"command\""},
      {R"(b{"command":[],"root":true})", "root"},
      {R"(w{"rows":0,"columns":80})", "\"rows\" must be"},
      {R"(w{"rows":24,"columns":10001})", "\"columns\" must be"},
      {R"(k{"number":65})", "\"number\" must be"},
      {R"(x{"status":256})", "\"status\" must be"},
      {"m" + std::string(kMaxExecFrameBytes, 'd'), "the limit is"},
  };
  for (const auto& row : rows) {
    const auto read = parse_exec_frame(row.frame);
    ASSERT_FALSE(read.ok()) << row.frame.substr(0, 80);
    EXPECT_THAT(read.error().message, HasSubstr(row.words));
  }
}

TEST(ExecFrames, ANewerAgentMayTellMoreOfTheEnd) {
  const auto read = parse_exec_frame(R"(x{"status":3,"core":true})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, ExecFrame(ExecExit{3, ""}));
}

}  // namespace
}  // namespace gangrun::wire
