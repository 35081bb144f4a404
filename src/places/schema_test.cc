// Everything that describes a job file (docs/job.schema.json, docs/job.md, the Python package) says
// the same as the parser. GANGRUN_UPDATE_GOLDEN=1 writes again what is made from the tables of
// fields.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "base/test_project_files.h"
#include "job/choice.h"
#include "job/spec_names.h"
#include "jobfile/default_files.h"
#include "jobfile/job_fields.h"
#include "jobfile/spec_yaml.h"
#include "jobfile/task_fields.h"
#include "jobfile/test_field_docs.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "places/places.h"
#include "yarn/yarn_options.h"

namespace gangrun::jobfile {
namespace {

using base::expect_made;
using base::read_project_file;
using base::with_table;

std::vector<std::string> property_names(const base::Json& schema) {
  std::vector<std::string> names;
  for (const auto& [name, value] : schema.at("properties").items()) names.push_back(name);
  return names;
}

// The values of `on`.
std::vector<std::string> names_of_places() {
  std::vector<std::string> names;
  for (const PlaceRules& place : places::rules().all()) {
    names.push_back(place.name);
    if (!place.other_name.empty()) names.push_back(place.other_name);
  }
  return names;
}

// Each map of a job file: where the schema has it, what its table is called in the reference, and
// what is made for both.
struct Map {
  std::string pointer;
  std::string name;
  std::vector<std::string> keys;
  base::Json properties;
  std::string table;
};

template <typename Owner>
Map map_of(const std::string& pointer, const std::string& name, FieldRows<Owner> rows) {
  return {pointer, name, keys_of(rows), properties_of(rows), reference_table(rows)};
}

// The reference has no table of its own for those without a name.
std::vector<Map> maps() {
  std::vector<Map> all = {map_of("", "job", job_fields()),
                          map_of("/$defs/task", "task", task_fields()),
                          map_of("/$defs/ports", "ports", ports_fields()),
                          map_of("/$defs/restarts", "restarts", restarts_fields()),
                          map_of("/$defs/timeouts", "timeouts", timeouts_fields()),
                          map_of("/$defs/zookeeper", "zookeeper", zookeeper_fields()),
                          map_of("/$defs/override", "", override_fields())};
  for (const Section* section : places::rules().sections()) {
    const std::string key(section->key);
    all.front().keys.push_back(key);
    all.front().properties[key] = property_of(*section);
    all.front().table += reference_row(*section);
    all.push_back(map_of("/$defs/" + key, key, section->fields));
    for (const SectionPart& part : section->parts) {
      const std::string name(part.prefix.substr(0, part.prefix.size() - 1));
      all.push_back(map_of("/$defs/" + key + "_" + name, "", part.fields));
    }
  }
  return all;
}

TEST(Schema, HasTheKeysOfTheParserAndNoOthers) {
  const auto schema = base::parse_json(read_project_file("docs/job.schema.json"), 1 << 20);
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  for (const Map& map : maps()) {
    const base::Json& part = schema->at(base::Json::json_pointer(map.pointer));
    EXPECT_THAT(property_names(part), testing::ElementsAreArray(map.keys)) << map.pointer;
    EXPECT_EQ(part.at("additionalProperties"), false) << map.pointer;
  }
}

TEST(Schema, IsMadeFromTheTables) {
  auto schema = base::parse_json(read_project_file("docs/job.schema.json"), 1 << 20);
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  for (const Map& map : maps()) {
    (*schema)[base::Json::json_pointer(map.pointer)]["properties"] = map.properties;
  }
  base::Json& on = (*schema)["properties"]["on"];
  on = {
      {"description", on["description"]}, {"enum", names_of_places()}, {"default", on["default"]}};
  expect_made("docs/job.schema.json", laid_out(*schema) + "\n");
}

// Editors take it for files of defaults: that of job files, without the keys that these do not
// have.
TEST(Schema, OfDefaultsIsMadeFromThatOfJobs) {
  auto schema = base::parse_json(read_project_file("docs/job.schema.json"), 1 << 20);
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  (*schema)["title"] = "gangrun file of defaults";
  (*schema)["description"] =
      "/etc/gangrun.yaml and ~/.config/gangrun.yaml. The reference is docs/defaults.md.";
  (*schema).erase("required");
  (*schema)["type"] = {"object", "null"};
  base::Json& properties = (*schema)["properties"];
  const std::vector<std::string> allowed = default_keys(places::rules());
  for (const std::string& key : property_names(*schema)) {
    if (std::ranges::find(allowed, key) == allowed.end()) properties.erase(key);
  }
  EXPECT_THAT(property_names(*schema), testing::ElementsAreArray(allowed));
  // Definitions to which only the keys that are gone point.
  for (const char* name :
       {"task", "override", "ports", "archives", "outputs", "command", "resources"}) {
    (*schema)["$defs"].erase(name);
  }
  expect_made("docs/defaults.schema.json", laid_out(*schema) + "\n");
}

TEST(Reference, IsMadeFromTheTables) {
  std::string text = read_project_file("docs/job.md");
  for (const Map& map : maps()) {
    if (!map.name.empty()) text = with_table(text, map.name, map.table);
  }
  constexpr std::string_view kPlaces = "{places}";
  text.replace(text.find(kPlaces), kPlaces.size(), places::rules().words(&PlaceRules::reference));
  text = with_table(text, "flags of task types", flags_table(plain_task_fields()));
  text = with_table(text, "flags of the job", flags_table(places::rules().job_fields()));
  expect_made("docs/job.md", text);
}

TEST(PythonPackage, IsMadeFromTheTables) {
  expect_made("python/gangrun/_task_spec.py", task_spec_module(task_fields()));
}

TEST(Schema, HasTheNamesOfTheChoices) {
  const auto schema = base::parse_json(read_project_file("docs/job.schema.json"), 1 << 20);
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  const auto choices = [&](const char* pointer) {
    return schema->at(base::Json::json_pointer(pointer)).get<std::vector<std::string>>();
  };
  EXPECT_EQ(choices("/properties/containment/enum"), job::choice_names<job::Containment>());
  EXPECT_EQ(choices("/properties/stop_signal/anyOf/0/enum"), job::choice_names<job::StopSignal>());
  EXPECT_EQ(choices("/properties/stop_signal_to/enum"), job::choice_names<job::StopSignalTo>());
  EXPECT_EQ(choices("/properties/notice_signal/anyOf/0/enum"),
            job::choice_names<job::NoticeSignal>());
  EXPECT_EQ(choices("/$defs/task/properties/expose/enum"), job::choice_names<job::Expose>());
  EXPECT_EQ(choices("/$defs/yarn/properties/container_runtime/enum"),
            job::choice_names<yarn::ContainerRuntime>());
  EXPECT_EQ(choices("/$defs/task/properties/policy/enum"), job::choice_names<job::Policy>());
  EXPECT_EQ(choices("/$defs/restarts/properties/scope/enum"),
            job::choice_names<job::RestartScope>());
  EXPECT_EQ(choices("/$defs/ports/properties/hold/enum"), job::choice_names<job::Hold>());
  EXPECT_EQ(choices("/$defs/kubernetes/properties/gang_scheduling/enum"),
            job::choice_names<kubernetes::pods::GangScheduling>());
  EXPECT_EQ(choices("/properties/on/enum"), names_of_places());
  std::vector<std::string> frameworks = choices("/$defs/framework/enum");
  frameworks.emplace_back("none");
  EXPECT_EQ(frameworks, job::framework_names());
}

TEST(Reference, HasARowForEveryKeyAndEveryChoice) {
  const std::string reference = read_project_file("docs/job.md");
  for (const Map& map : maps()) {
    for (const std::string& key : map.keys) {
      if (map.name.empty()) continue;
      EXPECT_THAT(reference, testing::HasSubstr(base::format("\n| `{}` |", key)));
    }
  }
  for (const auto& names :
       {job::choice_names<job::Policy>(), job::choice_names<job::RestartScope>(),
        job::choice_names<job::Containment>(), job::choice_names<job::Hold>(),
        job::choice_names<job::Expose>(), job::choice_names<yarn::ContainerRuntime>(),
        job::choice_names<job::StopSignal>(), job::choice_names<job::StopSignalTo>(),
        job::choice_names<job::NoticeSignal>(),
        job::choice_names<kubernetes::pods::GangScheduling>(), names_of_places(),
        job::framework_names()}) {
    for (const std::string& name : names) {
      EXPECT_THAT(reference, testing::HasSubstr(base::format("`{}`", name)));
    }
  }
}

TEST(Reference, ItsExampleIsAJobFile) {
  const std::string reference = read_project_file("docs/job.md");
  const std::size_t begin = reference.find("```yaml\n") + 8;
  const auto draft = parse_spec(reference.substr(begin, reference.find("```", begin) - begin), "",
                                places::rules().sections());
  EXPECT_TRUE(draft.ok()) << draft.error().message;
}

}  // namespace
}  // namespace gangrun::jobfile
