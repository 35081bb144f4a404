#include "job/exit_report.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "job/described.h"
#include "job/json_text.h"

namespace gangrun::job {
namespace {

ExitReport full_report() {
  return {.success = false,
          .why = {.reason = Reason::kOutOfMemory, .signal = 9},
          .port_lost = true,
          .last_lines = {"one", "", "drei … ü"},
          .traceback = "Traceback (most recent call last):\n  …\nMemoryError"};
}

TEST(ExitReport, RoundTripsWhole) {
  ExitReport in_pod = full_report();
  in_pod.has_both_streams = true;
  for (const ExitReport& report : {full_report(), in_pod, ExitReport{}}) {
    const auto text = base::dump_json(base::to_json(report));
    const auto json = base::parse_json(text, 1 << 20);
    ASSERT_TRUE(json.ok());
    const auto back = base::from_json<ExitReport>(*json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, report);
  }
}

TEST(ExitReport, EveryMemberIsNeededAndTyped) {
  const base::Json good = base::to_json(full_report());
  for (const auto& [key, value] : good.items()) {
    base::Json missing = good;
    missing.erase(key);
    base::Json wrong = good;
    wrong[key] = base::Json::object();
    for (const base::Json& bad : {missing, wrong}) {
      const auto back = base::from_json<ExitReport>(bad);
      ASSERT_FALSE(back.ok()) << key;
      EXPECT_THAT(back.error().message, testing::HasSubstr(key));
    }
  }
  for (const char* other : {"[]", "3", "null", "\"x\""}) {
    EXPECT_FALSE(base::from_json<ExitReport>(base::Json::parse(other)).ok());
  }
}

base::Json of_before() {
  return {{"success", false},
          {"code", 3},
          {"signal", 0},
          {"port_lost", false},
          {"sentence", "it ended"},
          {"traceback", ""},
          {"last_lines", base::Json::array()}};
}

TEST(ExitReport, ReadsTheSentenceOfBefore) {
  base::Json before = of_before();
  before["reason"] = "preempted";
  EXPECT_EQ(base::from_json<ExitReport>(before)->why,
            (Why{.reason = Reason::kPreempted, .code = 3, .told = "it ended"}));
  before["success"] = true;
  EXPECT_EQ(base::from_json<ExitReport>(before)->why.reason, Reason::kUnknown);
  before["success"] = false;
  before.erase("reason");
  EXPECT_FALSE(base::from_json<ExitReport>(before).ok());
}

TEST(ExitReport, ReadsTheFlagsOfBefore) {
  base::Json before = of_before();
  before["out_of_memory"] = false;
  before["could_not_start"] = false;
  const auto reason = [&before] { return base::from_json<ExitReport>(before)->why.reason; };
  EXPECT_EQ(reason(), Reason::kExitStatus);
  before["signal"] = 9;
  EXPECT_EQ(reason(), Reason::kSignal);
  before["port_lost"] = true;
  EXPECT_EQ(reason(), Reason::kPortLost);
  for (const Reason each : {Reason::kPreempted, Reason::kCouldNotStart, Reason::kOutOfMemory}) {
    before[std::string(to_string(each))] = true;
    EXPECT_EQ(reason(), each);
  }
  before["preempted"] = 1;
  before["out_of_memory"] = false;
  before["could_not_start"] = false;
  EXPECT_FALSE(base::from_json<ExitReport>(before).ok());
}

TEST(ExitReport, WritingKeepsTheLimitsThatReadingDemands) {
  ExitReport report = full_report();
  report.why.detail = std::string(100'000, 's');
  report.traceback = std::string(1'000'000, '\xff');
  report.last_lines.assign(100, std::string(100'000, '\x80'));
  report.last_lines.back() = "the last one";
  const auto back = base::from_json<ExitReport>(base::to_json(report));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->why.detail.size(), kMaxSentenceBytes);
  EXPECT_LE(back->traceback.size(), kMaxTracebackBytes);
  EXPECT_TRUE(base::is_valid_utf8(back->traceback));
  EXPECT_EQ(back->last_lines.size(), static_cast<std::size_t>(kLastLines));
  EXPECT_EQ(back->last_lines.back(), "the last one");
}

TEST(ExitReport, RefusesWhatIsOverTheLimits) {
  base::Json json = base::to_json(full_report());
  json["why"]["detail"] = std::string(kMaxSentenceBytes + 1, 's');
  EXPECT_FALSE(base::from_json<ExitReport>(json).ok());
  json = base::to_json(full_report());
  json["last_lines"] = std::vector<std::string>(kLastLines + 1, "line");
  EXPECT_FALSE(base::from_json<ExitReport>(json).ok());
  json = base::to_json(full_report());
  json["last_lines"] = std::vector<std::string>{std::string(kMaxLineBytes + 1, 'l')};
  EXPECT_FALSE(base::from_json<ExitReport>(json).ok());
}

}  // namespace
}  // namespace gangrun::job
