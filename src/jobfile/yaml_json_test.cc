#include "jobfile/yaml_json.h"

#include <gmock/gmock.h>

namespace gangrun::jobfile {
namespace {

std::string json_of(std::string_view text) {
  const auto json = yaml_to_json(text);
  return json.ok() ? base::dump_json(*json) : json.error().message;
}

TEST(YamlToJson, ReadsAKubeconfigsAndAPodsShapes) {
  EXPECT_EQ(json_of(R"(
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {"n": 'yes', 8080: x, on: z, 010: q}}
spec:
  containers:
  - name: main
    command: ["sh", -c, 'echo "$X"']
    args:
    - |
      a
        b
    - >-
      folded
      text
    ports: [{containerPort: 80}]
  terminationGracePeriodSeconds: 30
  hostNetwork: no
  nodeName: ~
  nodeSelector:
)"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"n":"yes",)"
            R"("8080":"x","true":"z","8":"q"}},"spec":{"containers":[{"name":"main",)"
            R"("command":["sh","-c","echo \"$X\""],"args":["a\n  b\n","folded text"],)"
            R"("ports":[{"containerPort":80}]}],"terminationGracePeriodSeconds":30,)"
            R"("hostNetwork":false,"nodeName":null,"nodeSelector":null}})");
}

TEST(YamlToJson, TakesJson) {
  EXPECT_EQ(json_of(R"({"a":["\u00e9\n",1,2.5,true,null],"b":{}})"),
            R"({"a":["é\n",1,2.5,true,null],"b":{}})");
}

TEST(YamlToJson, FollowsAliasesMergesAndTheTextTag) {
  EXPECT_EQ(
      json_of("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, z: 3, 'y': 4}\nd: {<<: [*a, {x: 5, w: 6}]}\n"
              "e: !!str 5\n\"<<\": f\n"),
      R"({"a":{"x":1,"true":2},"b":{"x":1,"true":2},"c":{"z":3,"y":4,"x":1,"true":2},)"
      R"("d":{"x":1,"true":2,"w":6},"e":"5","<<":"f"})");
}

TEST(YamlToJson, PassesOverEmptyDocuments) {
  for (const char* text : {"", "# nothing\n", "---\n", "~\n---\n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(json_of(text), "null") << text;
  }
  EXPECT_EQ(json_of("---\na: 1\n---\n"), R"({"a":1})");
}

TEST(YamlToJson, RefusesWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: 1\nb: 2\na: 3\n", "line 3, column 1: key 'a' is given twice"},
      {"a: 1\n---\nb: 2\n", "has more than one document (---)"},
      {"a: !secret word\n", "line 1, column 4: tags (!name) are not supported; allowed: !!str"},
      {"a: !!binary aGk=\n", "line 1, column 4: tags (!name) are not supported; allowed: !!str"},
      {"a: *secret\n", "line 1, column 4: not YAML: the referenced anchor is not defined"},
      {"a:\n\tb: 1\n", "line 2, column 1: not YAML: a line is indented by a tab; use spaces"},
      {"a: \"\\q\"\n", "line 1, column 7: not YAML: unknown escape character"},
      {"a: &a [*a]\n", "line 1, column 8: an alias (*name) stands in what it names"},
      {"[1]: 3\n", "line 1, column 1: a key must be a name"},
      {"~: 3\n", "line 1, column 1: a key must be a name"},
      {"a: {<<: 5}\n", "line 1, column 9: what is merged by << must be a map, or maps"},
      {"a: \"x\\0y\"\n", "line 1, column 4: a text has a NUL character or is not valid Unicode"},
      {"a: x\n\x04", "line 2, column 1: control character 0x04; the file must be text"},
      {"b: \xff\n", "line 1, column 1: this line is not valid UTF-8"},
      {",", "line 1, column 1: not YAML: no value begins like this"},
      {"a: 1\n---\n,", "line 3, column 1: not YAML: no value begins like this"},
      {"a: [1, 2\n", "line 1, column 9: not YAML: end of sequence flow not found"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(json_of(text), message) << text;
}

TEST(YamlToJson, HasLimits) {
  EXPECT_EQ(json_of(std::string(kMaxYamlBytes + 1, ' ')),
            "4194305 bytes of YAML are more than the limit of 4194304");
  EXPECT_THAT(json_of(std::string(65, '[') + std::string(65, ']')),
              testing::HasSubstr("nests deeper than 64 levels"));
  EXPECT_EQ(json_of(std::string(64, '[') + std::string(64, ']')),
            std::string(64, '[') + std::string(64, ']'));
  EXPECT_THAT(json_of("a: &a " + std::string(40, '[') + std::string(40, ']') +
                      "\nb: " + std::string(40, '[') + "*a" + std::string(40, ']')),
              testing::HasSubstr("nests deeper than 64 levels"));
  std::string text = "[";
  for (std::size_t i = 0; i <= kMaxYamlValues; ++i) text += "1,";
  EXPECT_THAT(json_of(text + "1]\n"), testing::HasSubstr("has more than 200000 values"));
}

TEST(YamlToJson, IsNotBlownUpByAliases) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) laughs += "*a" + std::to_string(i - 1) + ",";
    laughs += "]\n";
  }
  EXPECT_THAT(json_of(laughs), testing::HasSubstr("has more than 200000 values"));
  std::string large = "a: &a " + std::string(100'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) large += "*a,";
  EXPECT_THAT(json_of(large + "]\n"), testing::HasSubstr("stand for more than 4194304 bytes"));
}

}  // namespace
}  // namespace gangrun::jobfile
