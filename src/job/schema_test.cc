// The three descriptions of a job file, the parser, docs/job.schema.json and docs/job.md, say the
// same.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "job/places.h"
#include "job/spec_kubernetes.h"
#include "job/spec_names.h"
#include "job/spec_yaml.h"

namespace gangrun::job {
namespace {

// __FILE__ may be relative to the folder of the build, where this program is.
std::string read_doc(const std::string& name) {
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto room = (build / __FILE__).parent_path();
  auto text = base::read_file((room / "../../docs" / name).string(), 1 << 20);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.value_or("");
}

std::vector<std::string> property_names(const base::Json& schema) {
  std::vector<std::string> names;
  for (const auto& [name, value] : schema.at("properties").items()) names.push_back(name);
  return names;
}

// Each map of a job file with its keys: the parser's, and where the schema has them.
struct Map {
  const char* pointer;
  std::vector<std::string> keys;
};

std::vector<Map> maps() {
  return {{"", job_keys()},
          {"/$defs/task", task_keys()},
          {"/$defs/ports", ports_keys()},
          {"/$defs/override", override_keys()},
          {"/$defs/restarts", restarts_keys()},
          {"/$defs/timeouts", timeouts_keys()},
          {"/$defs/zookeeper", zookeeper_keys()},
          {"/$defs/yarn", yarn_keys()},
          {"/$defs/yarn_master", yarn_master_keys()},
          {"/$defs/kubernetes", kubernetes_keys()}};
}

TEST(Schema, HasTheKeysOfTheParserAndNoOthers) {
  const auto schema = base::parse_json(read_doc("job.schema.json"), 1 << 20);
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  for (const auto& [pointer, keys] : maps()) {
    const base::Json& map = schema->at(base::Json::json_pointer(pointer));
    EXPECT_THAT(property_names(map), testing::ElementsAreArray(keys)) << pointer;
    EXPECT_EQ(map.at("additionalProperties"), false) << pointer;
  }
}

TEST(Schema, HasTheNamesOfTheChoices) {
  const auto schema = base::parse_json(read_doc("job.schema.json"), 1 << 20);
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  const auto choices = [&](const char* pointer) {
    return schema->at(base::Json::json_pointer(pointer)).get<std::vector<std::string>>();
  };
  EXPECT_EQ(choices("/properties/containment/enum"), containment_names());
  EXPECT_EQ(choices("/properties/stop_signal/anyOf/0/enum"), stop_signal_names());
  EXPECT_EQ(choices("/properties/stop_signal_to/enum"), stop_signal_to_names());
  EXPECT_EQ(choices("/properties/notice_signal/anyOf/0/enum"), notice_signal_names());
  EXPECT_EQ(choices("/$defs/task/properties/expose/enum"), expose_names());
  EXPECT_EQ(choices("/$defs/yarn/properties/container_runtime/enum"), container_runtime_names());
  EXPECT_EQ(choices("/$defs/task/properties/policy/enum"), policy_names());
  EXPECT_EQ(choices("/$defs/restarts/properties/scope/enum"), restart_scope_names());
  EXPECT_EQ(choices("/$defs/ports/properties/hold/enum"), hold_names());
  EXPECT_EQ(choices("/$defs/kubernetes/properties/gang_scheduling/enum"), gang_scheduling_names());
  std::vector<std::string> places = place_names();
  places.insert(std::find(places.begin(), places.end(), kSpark), std::string(kK8s));
  EXPECT_EQ(choices("/properties/on/enum"), places);
  std::vector<std::string> frameworks = choices("/$defs/framework/enum");
  frameworks.emplace_back("none");
  EXPECT_EQ(frameworks, framework_names());
}

TEST(Reference, HasARowForEveryKeyAndEveryChoice) {
  const std::string reference = read_doc("job.md");
  for (const auto& [pointer, keys] : maps()) {
    if (std::string_view(pointer) == "/$defs/override") continue;  // the task's rows
    for (const std::string& key : keys) {
      EXPECT_THAT(reference, testing::HasSubstr(base::format("\n| `{}` |", key)));
    }
  }
  for (const auto& names :
       {policy_names(), restart_scope_names(), containment_names(), hold_names(), expose_names(),
        container_runtime_names(), stop_signal_names(), stop_signal_to_names(),
        notice_signal_names(), gang_scheduling_names(), place_names(), framework_names()}) {
    for (const std::string& name : names) {
      EXPECT_THAT(reference, testing::HasSubstr(base::format("`{}`", name)));
    }
  }
}

TEST(Reference, ItsExampleIsAJobFile) {
  const std::string reference = read_doc("job.md");
  const std::size_t begin = reference.find("```yaml\n") + 8;
  const auto draft = parse_spec(reference.substr(begin, reference.find("```", begin) - begin), "");
  EXPECT_TRUE(draft.ok()) << draft.error().message;
}

}  // namespace
}  // namespace gangrun::job
