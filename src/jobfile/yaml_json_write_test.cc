#include <gmock/gmock.h>

#include "jobfile/yaml_json.h"

namespace gangrun::jobfile {
namespace {

TEST(JsonToYaml, IsWhatPeopleWrite) {
  const auto json = base::Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "a-0", "labels": {"gangrun/job": "a", "on": "yes"}, "annotations": {}},
    "spec": {"containers": [{"name": "main", "image": "example.org:5000/x:2.15",
      "command": ["sh", "-c", "echo 1\n\nif x:\n\ty\n"], "args": [], "env": [{"name": "N", "value": "1"}]}],
      "nested": [[1, [2.5, null]], ["a\nb"]], "grace": 30, "ok": true}})");
  EXPECT_EQ(json_to_yaml(json), R"(apiVersion: v1
kind: Pod
metadata:
  name: a-0
  labels:
    gangrun/job: a
    "on": "yes"
  annotations: {}
spec:
  containers:
  - name: main
    image: example.org:5000/x:2.15
    command:
    - sh
    - "-c"
    - |
      echo 1

      if x:
      	y
    args: []
    env:
    - name: "N"
      value: "1"
  nested:
  - - 1
    - - 2.5
      - null
  - - |-
      a
      b
  grace: 30
  ok: true
)");
}

// Each of which some reader of YAML takes for something else, or loses a part of, unquoted.
const std::string kTexts[] = {"",
                              " ",
                              "a b",
                              "yes",
                              "y",
                              "null",
                              "~",
                              "1",
                              "0x1f",
                              "1e3",
                              "-",
                              "- a",
                              "a: b",
                              "a:",
                              "a #b",
                              "#",
                              "*a",
                              "&a",
                              "!a",
                              "|",
                              ">",
                              "%a",
                              "@a",
                              "`a",
                              "'a'",
                              "\"a\"",
                              "\\",
                              "a\\n",
                              "{",
                              "[]",
                              "<<",
                              "=",
                              "2020-01-01",
                              "1:30",
                              "---",
                              "...",
                              "a\n",
                              "a\nb",
                              "a\nb\n",
                              "a\n\n",
                              "a\nb\n\n",
                              "\na\n",
                              " a\nb",
                              "\ta\nb",
                              "a\n \nb",
                              "a\n  b\n",
                              "a\n\n\nb",
                              "a \nb ",
                              "a\r\nb",
                              "a\tb",
                              "a\nb\t\nc",
                              "\x7f",
                              "\x01\x1f",
                              "\xc2\x85",
                              "\xe2\x80\xa8",
                              "\xef\xbb\xbf"
                              "a",
                              "\xef\xbf\xbe",
                              "é\nü",
                              "\xf0\x9f\x98\x80",
                              "a\n\xe2\x80\xa9"
                              "b",
                              "a\n---\nb",
                              "a\n# b\n",
                              std::string(5000, 'x'),
                              "a\n" + std::string(5000, ' ') + "x"};

TEST(JsonToYaml, ReadsBackAsTheSameText) {
  for (const std::string& text : kTexts) {
    base::Json object = {{"a", text}, {"c", {text, {text}}}};
    object[text.substr(0, 2000) + "k"] = text;
    for (const base::Json& json : {base::Json(text), object}) {
      const std::string yaml = json_to_yaml(json);
      const auto back = yaml_to_json(yaml);
      ASSERT_TRUE(back.ok()) << back.error().message << "\n" << yaml;
      EXPECT_EQ(*back, json) << yaml;
    }
  }
}

TEST(JsonToYaml, ReadsBackAsTheSameNumbers) {
  const auto json = base::Json::parse(
      "[0,-1,18446744073709551615,-9223372036854775808,0.1,1e300,1e-300,100000000000000000000,"
      "true,false,null,{},[],[[]],[{}]]");
  const auto back = yaml_to_json(json_to_yaml(json));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, json);
}

TEST(JsonToYaml, WritesWhatIsNoUtf8AsReplacement) {
  EXPECT_EQ(json_to_yaml("a\xff\nb"), "\"a\xef\xbf\xbd\\nb\"\n");
}

}  // namespace
}  // namespace gangrun::jobfile
