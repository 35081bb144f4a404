#include "job/exit_report.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "job/json_text.h"

namespace gangrun::job {
namespace {

ExitReport full_report() {
  return {.success = false,
          .reason = Reason::kOutOfMemory,
          .code = 3,
          .signal = 9,
          .port_lost = true,
          .sentence = "was killed by signal 9 (out of memory)",
          .last_lines = {"one", "", "drei … ü"},
          .traceback = "Traceback (most recent call last):\n  …\nMemoryError"};
}

TEST(ExitReport, RoundTripsWhole) {
  for (const ExitReport& report : {full_report(), ExitReport{}}) {
    const auto text = base::dump_json(to_json(report));
    const auto json = base::parse_json(text, 1 << 20);
    ASSERT_TRUE(json.ok());
    const auto back = exit_report_from_json(*json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, report);
  }
}

TEST(ExitReport, EveryMemberIsNeededAndTyped) {
  const base::Json good = to_json(full_report());
  for (const auto& [key, value] : good.items()) {
    base::Json missing = good;
    missing.erase(key);
    base::Json wrong = good;
    wrong[key] = base::Json::object();
    for (const base::Json& bad : {missing, wrong}) {
      const auto back = exit_report_from_json(bad);
      ASSERT_FALSE(back.ok()) << key;
      EXPECT_THAT(back.error().message, testing::HasSubstr(key));
    }
  }
  for (const char* other : {"[]", "3", "null", "\"x\""}) {
    EXPECT_FALSE(exit_report_from_json(base::Json::parse(other)).ok());
  }
}

TEST(ExitReport, ReadsTheFlagsOfBefore) {
  base::Json before = {
      {"success", false},       {"code", 3},          {"signal", 0},
      {"out_of_memory", false}, {"port_lost", false}, {"could_not_start", false},
      {"sentence", "it ended"}, {"traceback", ""},    {"last_lines", base::Json::array()}};
  const auto reason = [&before] { return exit_report_from_json(before)->reason; };
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
  EXPECT_FALSE(exit_report_from_json(before).ok());
}

TEST(ExitReport, AReasonOfALaterVersionIsUnknown) {
  base::Json json = to_json(full_report());
  json["reason"] = "solar_flare";
  EXPECT_EQ(exit_report_from_json(json)->reason, Reason::kUnknown);
}

TEST(ExitReport, WritingKeepsTheLimitsThatReadingDemands) {
  ExitReport report = full_report();
  report.sentence = std::string(100'000, 's');
  report.traceback = std::string(1'000'000, '\xff');
  report.last_lines.assign(100, std::string(100'000, '\x80'));
  report.last_lines.back() = "the last one";
  const auto back = exit_report_from_json(to_json(report));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->sentence.size(), kMaxSentenceBytes);
  EXPECT_LE(back->traceback.size(), kMaxTracebackBytes);
  EXPECT_TRUE(base::is_valid_utf8(back->traceback));
  EXPECT_EQ(back->last_lines.size(), static_cast<std::size_t>(kLastLines));
  EXPECT_EQ(back->last_lines.back(), "the last one");
}

TEST(ExitReport, RefusesWhatIsOverTheLimits) {
  base::Json json = to_json(full_report());
  json["sentence"] = std::string(kMaxSentenceBytes + 1, 's');
  EXPECT_FALSE(exit_report_from_json(json).ok());
  json = to_json(full_report());
  json["last_lines"] = std::vector<std::string>(kLastLines + 1, "line");
  EXPECT_FALSE(exit_report_from_json(json).ok());
  json = to_json(full_report());
  json["last_lines"] = std::vector<std::string>{std::string(kMaxLineBytes + 1, 'l')};
  EXPECT_FALSE(exit_report_from_json(json).ok());
}

}  // namespace
}  // namespace gangrun::job
