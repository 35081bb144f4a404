#include "client/plan_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"

namespace gangrun::client {
namespace {

using base::Json;
using testing::Contains;

job::JobSpec sample_spec() {
  job::JobSpec spec;
  spec.name = "j";
  spec.environment = {{"A", "a"}, {"B", "b"}};
  spec.files = {"x", "y"};
  spec.restarts.max = 2;
  job::TaskSpec& worker = spec.tasks.emplace_back();
  worker.type = "worker";
  worker.instances = 2;
  return spec;
}

const jobfile::Sources kSources{.origins = {{"env", "/etc/gangrun.yaml:1:1: "},
                                            {"env.A", "/etc/gangrun.yaml:2:3: "},
                                            {"env.B", "-e: "},
                                            {"files", "/w/a:b.yaml:3:8: "},
                                            {"files.1", "-f: "},
                                            {"restarts.max", "/w/a:b.yaml:7:2: "},
                                            {"success", "job.json: "},
                                            {"tasks.worker", "/w/a:b.yaml:4:3: "},
                                            {"tasks.worker.instances", "/w/a:b.yaml:5:5: "}},
                                .defaults = {{"env", "/etc/gangrun.yaml:1:1: "},
                                             {"env.A", "/etc/gangrun.yaml:2:3: "},
                                             {"env.B", "/etc/gangrun.yaml:3:3: "}},
                                .left_out = {{"far", "/etc/gangrun.yaml:9:6: "}}};

TEST(PlanSources, EveryValueHasOne) {
  const Json sources = sources_json(sample_spec(), kSources);
  for (const Json& expected : {
           Json{{"field", "env.A"},
                {"from", "defaults"},
                {"file", "/etc/gangrun.yaml"},
                {"line", 2}},
           Json{{"field", "env.B"}, {"from", "flag"}, {"flag", "-e"}},
           Json{{"field", "files.0"}, {"from", "job_file"}, {"file", "/w/a:b.yaml"}, {"line", 3}},
           Json{{"field", "files.1"}, {"from", "flag"}, {"flag", "-f"}},
           Json{{"field", "restarts.max"},
                {"from", "job_file"},
                {"file", "/w/a:b.yaml"},
                {"line", 7}},
           Json{{"field", "restarts.scope"}, {"from", "built_in"}},
           Json{{"field", "success"}, {"from", "job_file"}, {"file", "job.json"}},
           Json{{"field", "tasks.worker.instances"},
                {"from", "job_file"},
                {"file", "/w/a:b.yaml"},
                {"line", 5}},
           Json{{"field", "tasks.worker.vcores"}, {"from", "built_in"}},
       }) {
    EXPECT_THAT(sources, Contains(expected));
  }
  EXPECT_EQ(
      left_out_json(kSources),
      Json::array({Json{
          {"field", "far"}, {"from", "defaults"}, {"file", "/etc/gangrun.yaml"}, {"line", 9}}}));
}

TEST(PlanSources, DefaultsThatCountAreNamed) {
  EXPECT_EQ(defaults_in_use(kSources), "env.A (/etc/gangrun.yaml:2)");
  EXPECT_EQ(defaults_in_use({}), "");
  jobfile::Sources many;
  for (const char* path : {"a", "b", "c", "d", "e", "f", "g"}) many.origins[path] = "/f:1:2: ";
  many.defaults = many.origins;
  EXPECT_EQ(defaults_in_use(many), "a (/f:1), b (/f:1), c (/f:1), d (/f:1), e (/f:1) and 2 more");
}

TEST(PlanSources, PeopleSeeOneLineForWhatIsBuiltIn) {
  std::vector<std::string> lines;
  for (const Line& line : sources_lines(sample_spec(), kSources)) lines.push_back(line.text());
  EXPECT_THAT(lines, Contains("where values come from"));
  EXPECT_THAT(lines, Contains("  /etc/gangrun.yaml:2  env.A"));
  EXPECT_THAT(lines, Contains("  -e                   env.B"));
  EXPECT_THAT(lines, Contains("  /etc/gangrun.yaml:9  far, which is not used with `on: local`"));
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const auto& line) { return line.find("built-in") != std::string::npos; }),
            1);
  EXPECT_EQ(sources_lines(sample_spec(), {}).back().text(), "  built-in  all values");
}

}  // namespace
}  // namespace gangrun::client
