#include "jobfile/yaml_tree.h"

#include <gmock/gmock.h>

#include "job/spec.h"

namespace gangrun::jobfile {
namespace {

std::string yaml_tree_error(std::string_view text) {
  const auto tree = parse_yaml(text, "job.yaml");
  return tree.ok() ? "" : tree.error().message;
}

TEST(ParseYaml, KeepsTextOrderAndPlaces) {
  const auto tree = parse_yaml("b: 010\na:\n  - yes\n  - ''\n  - ~\n", "job.yaml");
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  ASSERT_EQ(tree->keys.size(), 2U);
  EXPECT_EQ(tree->keys[0].name, "b");
  EXPECT_EQ(tree->children[0].text, "010");
  EXPECT_EQ(tree->keys[1].mark.line, 2);
  const YamlNode& list = tree->children[1];
  ASSERT_EQ(list.children.size(), 3U);
  EXPECT_EQ(list.children[0].text, "yes");
  EXPECT_EQ(list.children[0].mark.line, 3);
  EXPECT_EQ(list.children[0].mark.column, 5);
  EXPECT_EQ(list.children[1].kind, YamlNode::Kind::kScalar);
  EXPECT_EQ(list.children[2].kind, YamlNode::Kind::kNull);
}

TEST(ParseYaml, AnEmptyTextIsNull) {
  for (const char* text : {"", "# only a comment\n", "---\n", "\xEF\xBB\xBF"}) {
    const auto tree = parse_yaml(text, "job.yaml");
    ASSERT_TRUE(tree.ok()) << tree.error().message;
    EXPECT_EQ(tree->kind, YamlNode::Kind::kNull);
  }
}

TEST(ParseYaml, RefusesWithTheirPlaceWhatAJobFileDoesNotUse) {
  const std::pair<std::string, const char*> cases[] = {
      {"a: 1\nb: 2\na: 3\n", "job.yaml:3:1: key 'a' is given twice; the first is in line 1"},
      {"a: &x 1\nb: *x\n",
       "job.yaml:2:4: anchors and aliases (&name, *name) are not used in a job file"},
      {"a: !!binary aGk=\n",
       "job.yaml:1:4: the tag 'tag:yaml.org,2002:binary' is not used in a job file"},
      {"a: !x [1]\n", "job.yaml:1:4: the tag '!x' is not used in a job file"},
      {"[1, 2]: 3\n",
       "job.yaml:1:1: a key must be a name; a text that begins with [ or { is written in quotes"},
      {"hosts: [[fd00::5]:8]\n",
       "job.yaml:1:9: a key must be a name; a text that begins with [ or { is written in quotes"},
      {"? {a: 1}\n: 3\n",
       "job.yaml:1:3: a key must be a name; a text that begins with [ or { is written in quotes"},
      {"~: 3\n", "job.yaml:1:1: a key must be a name"},
      {"a: 1\n---\nb: 2\n", "job.yaml: has more than one document (---)"},
      {"a: \"x\\0y\"\n", "job.yaml:1:4: a text has a NUL character or is not valid Unicode"},
      {std::string("a: x\nb: y\0z\n", 11),
       "job.yaml:2:5: control character 0x00; the file must be text"},
      {"a: x\n\x04", "job.yaml:2:1: control character 0x04; the file must be text"},
      {"a: x\nb: \xff\n", "job.yaml:2:1: this line is not valid UTF-8"},
      {"a: [1, 2\n", "job.yaml:1:9: not YAML: end of sequence flow not found"},
      {"a: [1, 2\n\n\n", "job.yaml:1:9: not YAML: end of sequence flow not found"},
      {"a: 1\n b: 2\n", "job.yaml:2:3: not YAML: illegal map value"},
      {"a:\n \tb: 2\n", "job.yaml:2:2: not YAML: a line is indented by a tab; use spaces"},
      {"a:\n\tb: 2\n", "job.yaml:2:1: not YAML: a line is indented by a tab; use spaces"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(yaml_tree_error(text), message) << text;
}

TEST(ParseYaml, RefusesALargeTextBeforeItIsParsed) {
  // Somebody named a job file of 100 MB: it must cost nothing.
  const std::string huge(100'000'000, '[');
  const auto tree = parse_yaml(huge, "job.yaml");
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().code, base::Code::kResourceExhausted);
  EXPECT_EQ(tree.error().message,
            "job.yaml: 100000000 bytes are more than the limit of 1048576 bytes for a job file");
}

TEST(ParseYaml, SurvivesEveryKindOfDepth) {
  for (const char* part : {"[", "{", "{a: ", "- ", "? ", "[{", "a: [", ": ", "!a ", "&a [", "'x"}) {
    std::string text;
    while (text.size() + 8 < job::kMaxSpecBytes / 4) text += part;
    EXPECT_NE(yaml_tree_error(text), "") << part;
  }
  std::string indented;
  for (std::size_t depth = 0; depth < 900; ++depth) indented += std::string(depth, ' ') + "a:\n";
  EXPECT_THAT(yaml_tree_error(indented), testing::HasSubstr("nests deeper than 16 levels"));
}

TEST(ParseYaml, LimitsTheNumberOfValues) {
  std::string text = "a: [";
  for (std::size_t i = 0; i <= kMaxSpecNodes; ++i) text += "1,";
  EXPECT_THAT(yaml_tree_error(text + "1]\n"), testing::HasSubstr("has more than 200000 values"));
}

TEST(YamlFromJson, HasTheSameShape) {
  const auto tree = yaml_from_json(base::Json::parse(R"({"b": 1.50, "a": ["x", null, true]})"));
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->keys[0].name, "b");
  EXPECT_EQ(tree->children[0].text, "1.5");
  EXPECT_EQ(tree->children[1].children[0].text, "x");
  EXPECT_EQ(tree->children[1].children[1].kind, YamlNode::Kind::kNull);
  EXPECT_EQ(tree->children[1].children[2].text, "true");
  base::Json deep = 1;
  for (std::size_t i = 0; i <= kMaxSpecDepth; ++i) deep = base::Json::array({deep});
  EXPECT_FALSE(yaml_from_json(deep).ok());
  EXPECT_FALSE(yaml_from_json(base::Json(std::string("a\0b", 3))).ok());
  EXPECT_EQ(yaml_from_json(base::Json("\xff"))->text, "\xff");
}

TEST(ParseYaml, JsonMayHaveBytesThatAreNotUtf8) {
  const auto tree = parse_yaml(R"({"command": ["x", "/a\udcff"], "n": 1})", "job.json");
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  EXPECT_EQ(tree->children[0].children[1].text, "/a\xff");
  // In YAML that is no escape of a double-quoted text, and two characters more of any other.
  EXPECT_FALSE(parse_yaml("a: \"\\udcff\"\n", "job.yaml").ok());
  EXPECT_EQ(parse_yaml("a: \\udcff\n", "job.yaml")->children[0].text, "\\udcff");
}

base::Json value_of(std::string_view text) {
  const auto node = parse_yaml(text, "pod.yaml");
  EXPECT_TRUE(node.ok()) << node.error().message;
  return node.ok() ? json_value(*node) : base::Json();
}

TEST(JsonValue, KeepsWhatIsQuotedAndFindsTheTypesOfTheRest) {
  EXPECT_EQ(
      base::dump_json(value_of(R"({a: ["1", '0644', "true", "", 10Gi], b: [1, 0644, yes, ~, ]})")),
      R"({"a":["1","0644","true","","10Gi"],"b":[1,420,true,null]})");
  EXPECT_EQ(base::dump_json(value_of("a: |\n  1\nb:\nc: {}\nd: []\n")),
            R"({"a":"1\n","b":null,"c":{},"d":[]})");
}

TEST(JsonValue, ReadsBackWhatItGave) {
  const base::Json json = base::Json::parse(
      R"({"b":1,"a":["1",-2,0.1,1e300,18446744073709551615,true,null,"null","~","",{},[{"x":"y: z"}]]})");
  const auto node = yaml_from_json(json);
  ASSERT_TRUE(node.ok()) << node.error().message;
  EXPECT_EQ(json_value(*node), json);
  EXPECT_EQ(value_of(base::dump_json(json)), json);
}

}  // namespace
}  // namespace gangrun::jobfile
