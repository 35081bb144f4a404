#include "jobfile/yaml_value.h"

#include <gmock/gmock.h>

namespace gangrun::jobfile {
namespace {

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
