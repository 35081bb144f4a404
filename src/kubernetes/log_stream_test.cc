#include "kubernetes/log_stream.h"

#include <gtest/gtest.h>

#include "kubernetes/test_api_server_internal.h"

namespace gangrun::kubernetes {
namespace {

using base::Code;

struct LogStreamFixture : TestApiServer {
  void start(LogRequest request = {"ns", "worker-0", "main", true, {}}) {
    LogCallbacks callbacks;
    callbacks.on_line = [this](std::string_view time, std::string_view text) {
      lines.push_back(base::format("{}|{}", time, text));
      if (stops_at == lines.size()) log.reset();
    };
    callbacks.on_end = [this](base::Result<> result) { ended.emplace(std::move(result)); };
    log = client().read_log(std::move(request), std::move(callbacks));
  }
  bool wait_for_end() {
    return wait([&] { return ended.has_value(); });
  }

  std::vector<std::string> lines;
  std::optional<base::Result<>> ended;
  std::size_t stops_at = 0;
  ActivityHandle log;
};

TEST(LogStream, LinesUntilTheEnd) {
  LogStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    EXPECT_EQ(talk.path, "/api/v1/namespaces/ns/pods/worker-0/log");
    EXPECT_EQ(talk.query["container"], "main");
    EXPECT_EQ(talk.query["follow"], "true");
    EXPECT_EQ(talk.query["timestamps"], "true");
    EXPECT_EQ(talk.query["sinceTime"], "2026-01-31T12:00:00Z");
    talk.begin();
    talk.piece("2026-01-31T12:00:00Z on");
    talk.piece("e\n2026-01-31T12:00:01Z two");
    talk.end();
  };
  fixture.start({"ns", "worker-0", "main", true, "2026-01-31T12:00:00Z"});
  ASSERT_TRUE(fixture.wait_for_end());
  EXPECT_TRUE(fixture.ended->ok());
  EXPECT_EQ(fixture.lines,
            (std::vector<std::string>{"2026-01-31T12:00:00Z|one", "2026-01-31T12:00:01Z|two"}));
}

TEST(LogStream, OneThatBreaksOffSaysSo) {
  LogStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.begin();
    talk.piece("2026-01-31T12:00:00Z one\n2026-01-31T12:00:01Z two");
    talk.close();
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for_end());
  ASSERT_FALSE(fixture.ended->ok());
  EXPECT_EQ(fixture.ended->error().code, Code::kUnavailable);
  EXPECT_EQ(fixture.lines,
            (std::vector<std::string>{"2026-01-31T12:00:00Z|one", "2026-01-31T12:00:01Z|two"}));
}

TEST(LogStream, AKubeletThatCannotFollowALogDoesNotEndIt) {
  LogStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.begin();
    talk.piece("words in between\n2026-01-31T12:00:00Z one\n");
    talk.piece("failed to create fsnotify watcher: too many open files");
    talk.end();
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for_end());
  ASSERT_FALSE(fixture.ended->ok());
  EXPECT_EQ(fixture.ended->error().code, Code::kUnavailable);
  EXPECT_NE(fixture.ended->error().message.find("too many open files"), std::string::npos);
  EXPECT_EQ(fixture.lines,
            (std::vector<std::string>{"|words in between", "2026-01-31T12:00:00Z|one"}));
}

TEST(LogStream, AContainerThatHasNotStarted) {
  LogStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.refuse(400, "BadRequest",
                "container \"main\" in pod \"worker-0\" is waiting to start: ContainerCreating");
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for_end());
  EXPECT_EQ(fixture.ended->error().code, Code::kFailedPrecondition);
}

TEST(LogStream, MayBeEndedFromItsCallback) {
  LogStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.begin();
    talk.piece("2026-01-31T12:00:00Z one\n2026-01-31T12:00:01Z two\n");
    talk.end();
  };
  fixture.stops_at = 1;
  fixture.start();
  ASSERT_TRUE(fixture.wait([&] { return fixture.log == nullptr; }));
  EXPECT_EQ(fixture.lines.size(), 1U);
  EXPECT_FALSE(fixture.ended.has_value());
}

TEST(LogStream, ManyAtOnce) {
  LogStreamFixture fixture;
  fixture.on_request = [](const TestTalk&) {};  // containers that are silent
  int ended = 0;
  std::vector<ActivityHandle> logs;
  for (int i = 0; i < 100; ++i) {
    LogCallbacks callbacks;
    callbacks.on_line = [](std::string_view, std::string_view) {};
    callbacks.on_end = [&](const base::Result<>&) { ++ended; };
    logs.push_back(fixture.client().read_log({"ns", "p", "", true, {}}, callbacks));
  }
  ASSERT_TRUE(fixture.wait([&] { return fixture.requests == 100; }));
  for (const auto& talk : fixture.talks) {
    talk->begin();
    talk->end();
  }
  EXPECT_TRUE(fixture.wait([&] { return ended == 100; }));
}

}  // namespace
}  // namespace gangrun::kubernetes
