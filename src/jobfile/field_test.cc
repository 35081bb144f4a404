#include "jobfile/field.h"

#include <gmock/gmock.h>

#include "jobfile/task_fields.h"
#include "jobfile/test_field_docs.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::jobfile {
namespace {

// A field that gangrun does not have: all that it takes is a member and a row.
struct Process {
  int nice = 5;
  std::optional<std::int64_t> memory;
  std::chrono::milliseconds pause{1500};
  job::Hold hold = job::Hold::kUntilBind;
  std::string folder;
  bool is_quiet = false;
  std::vector<std::string> names;
};

constexpr FieldRow<Process> kFields[] = {
    field_of<&Process::nice>({.key = "nice",
                              .about = "Niceness of the processes",
                              .max = 19,
                              .is_always_written = true,
                              .flag = {.names = "--nice", .forms = FlagForms::kGeneralOrType}}),
    field_of<&Process::memory>({.key = "memory", .about = "Memory", .is_always_written = true}),
    field_of<&Process::pause>({.key = "pause", .about = "Pause", .min = 1}),
    field_of<&Process::hold>({.key = "hold", .about = "How long ports are held"}),
    field_of<&Process::folder>({.key = "folder", .about = "Folder", .allowed = "a folder"}),
    field_of<&Process::is_quiet>({.key = "is_quiet", .about = "Whether it says nothing"}),
    field_of<&Process::names>({.key = "names", .about = "Names", .allowed = "names, a name"}),
};
constexpr FieldRows<Process> kRows = kFields;

struct Read {
  Process process;
  std::map<std::string, std::string> origins;
  std::string error;
};

Read read_from(const base::Result<YamlNode>& node) {
  Read read;
  EXPECT_TRUE(node.ok()) << node.error().message;
  const std::string source = "job.yaml";
  const auto done = read_fields({*node, "", source, read.origins}, kRows, read.process);
  if (!done.ok()) read.error = done.error().message;
  return read;
}

Read read_yaml(std::string_view text) { return read_from(parse_yaml(text, "job.yaml")); }

TEST(Field, IsReadFromAJobFile) {
  const Read read = read_yaml(
      "{nice: 19, memory: 2g, pause: 3 s, hold: until-exec, folder: a b, is_quiet: true, "
      "names: [x, y]}");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.process.nice, 19);
  EXPECT_EQ(read.process.memory, 2048);
  EXPECT_EQ(read.process.pause, std::chrono::seconds(3));
  EXPECT_EQ(read.process.hold, job::Hold::kUntilExec);
  EXPECT_EQ(read.process.folder, "a b");
  EXPECT_TRUE(read.process.is_quiet);
  EXPECT_THAT(read.process.names, testing::ElementsAre("x", "y"));
  EXPECT_EQ(read.origins.size(), 7U);
  EXPECT_TRUE(read_yaml("{}").origins.empty());
}

TEST(Field, ErrorsSayWhatIsAllowed) {
  EXPECT_EQ(read_yaml("{nice: 20}").error,
            "job.yaml:1:8: nice: '20' is not allowed; allowed: a whole number from 0 to 19");
  EXPECT_EQ(read_yaml("{nise: 2}").error,
            "job.yaml:1:2: 'nise' is not a known key; did you mean 'nice'? allowed: nice, memory, "
            "pause, hold, folder, is_quiet, names");
  EXPECT_EQ(read_yaml("{is_quiet: yes}").error,
            "job.yaml:1:12: is_quiet: 'yes' is not allowed; allowed: true or false");
  EXPECT_EQ(read_yaml("{hold: [x]}").error,
            "job.yaml:1:8: hold: a list is not allowed; allowed: until-bind, until-exec");
  EXPECT_EQ(read_yaml("{folder: }").error,
            "job.yaml:1:10: folder: nothing is not allowed; allowed: a folder");
  EXPECT_EQ(read_yaml("{names: x}").error,
            "job.yaml:1:9: names: 'x' is not allowed; allowed: a list of names");
}

TEST(Field, IsCheckedInASpecThatWasBuiltByHand) {
  const FieldInfo& nice = kFields[0].info;
  EXPECT_FALSE(check_value(nice, std::int64_t{19}, "nice").has_value());
  EXPECT_EQ(check_value(nice, std::int64_t{20}, "nice")->text,
            "20 is not allowed; allowed: 0 to 19");
  EXPECT_EQ(check_value(kFields[2].info, std::int64_t{0}, "pause")->text,
            "'0 s' is not allowed; allowed: more than 0 s, at most 365 d");
  EXPECT_FALSE(check_value(kFields[1].info, FieldValue{}, "memory").has_value());
  EXPECT_EQ(check_value(kFields[4].info, std::string("a\0", 2), "folder")->text,
            "has a NUL character");
}

TEST(Field, IsWrittenForPeopleAndForPrograms) {
  Process process;
  EXPECT_EQ(base::dump_json(json_of_fields(kRows, process, job::PlanForm::kForPeople)),
            R"({"nice":5})");
  process.memory = 3072;
  process.pause = std::chrono::milliseconds(2500);
  EXPECT_EQ(base::dump_json(json_of_fields(kRows, process, job::PlanForm::kForPeople)),
            R"({"nice":5,"memory":"3 GiB","pause":"2500 ms"})");
  EXPECT_EQ(base::dump_json(json_of_fields(kRows, process, job::PlanForm::kForPrograms)),
            R"({"nice":5,"memory":3072,"pause":2.5})");
}

// Not one text is parsed: texts that say something else are not looked at.
TEST(Field, NumbersOfAPlanAreTakenAsTheyAre) {
  auto node = yaml_from_json(base::Json::parse(R"({"nice": 7, "memory": 3072, "pause": 0.1})"));
  ASSERT_TRUE(node.ok());
  for (YamlNode& child : node->children) child.text = "1";
  const Read read = read_from(node);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.process.nice, 7);
  EXPECT_EQ(read.process.memory, 3072);
  EXPECT_EQ(read.process.pause, std::chrono::milliseconds(100));
}

TEST(Field, NumbersThatAreNotAllowedGetTheErrorOfTheirText) {
  const auto error = [](const char* json) {
    return read_from(yaml_from_json(base::Json::parse(json))).error;
  };
  EXPECT_EQ(error(R"({"nice": -1})"),
            "job.yaml: nice: '-1' is not allowed; allowed: a whole number from 0 to 19");
  EXPECT_EQ(error(R"({"nice": 2.0})"),
            "job.yaml: nice: '2.0' is not allowed; allowed: a whole number from 0 to 19");
  EXPECT_EQ(error(R"({"nice": 2.5})"),
            "job.yaml: nice: '2.5' is not allowed; allowed: a whole number from 0 to 19");
  EXPECT_EQ(read_from(yaml_from_json(base::Json::parse(R"({"memory": 1.5})"))).process.memory, 2);
}

TEST(Field, IsInHelp) {
  EXPECT_EQ(name_of(kFields[0].info.flag), "--nice");
  EXPECT_EQ(value_in_help(kFields[0].info), "[TYPE:]N");
  EXPECT_EQ(help_of(kFields[0].info), "Niceness of the processes");
}

TEST(Field, IsInTheDocuments) {
  EXPECT_EQ(
      property_of(kFields[0]).dump(),
      R"({"description":"Niceness of the processes.","type":"integer","minimum":0,"maximum":19,"default":5})");
  EXPECT_THAT(reference_table(kRows),
              testing::HasSubstr("| `nice` | niceness of the processes, 0 to 19 | 5 |\n"));
  EXPECT_EQ(value_of_flag(kFields[0].info), "`number` or `type:number`");
  EXPECT_EQ(python_type(kFields[0]), "Optional[int] = None");
}

// Every path that rows name exists, and flags are written in the same way.
TEST(TaskFields, AreCompleteAndFitTogether) {
  for (const TaskField& field : plain_task_fields()) {
    const FieldInfo& info = field.row->info;
    EXPECT_FALSE(info.about.empty() || info.about.ends_with('.')) << field.path;
    EXPECT_TRUE(info.beside.empty() || find_row(task_fields(), info.beside) != nullptr);
    EXPECT_TRUE(info.kind != FieldKind::kCount || info.min < info.max) << field.path;
    if (info.flag.names.empty()) continue;
    EXPECT_TRUE(name_of(info.flag).starts_with('-')) << field.path;
    const bool is_for_one = info.flag.forms == FlagForms::kGeneralTypeOrTask;
    EXPECT_EQ(is_for_one, find_row(override_fields(), info.key) != nullptr) << field.path;
  }
}

}  // namespace
}  // namespace gangrun::jobfile
