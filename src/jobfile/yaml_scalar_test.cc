#include "jobfile/yaml_scalar.h"

#include <gmock/gmock.h>

namespace gangrun::jobfile {
namespace {

// As `kubectl config view -o json` showed each.
TEST(YamlScalar, IsWhatKubectlTakesItFor) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"y", "true"},
      {"Yes", "true"},
      {"on", "true"},
      {"TRUE", "true"},
      {"n", "false"},
      {"NO", "false"},
      {"OFF", "false"},
      {"False", "false"},
      {"tRue", R"("tRue")"},
      {"oN", R"("oN")"},
      {"010", "8"},
      {"0x1F", "31"},
      {"0b11", "3"},
      {"0o17", "15"},
      {"0O7", "7"},
      {"0X1", "1"},
      {"1_000", "1000"},
      {"1__2", "12"},
      {"0_7", "7"},
      {"-0x10", "-16"},
      {"+5", "5"},
      {"09", "9.0"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"5.", "5.0"},
      {"1e3", "1000.0"},
      {"1E+3", "1000.0"},
      {".1e2", "10.0"},
      {"-.5", "-0.5"},
      {"1e400", R"("1e400")"},
      {"._5", R"("._5")"},
      {"_1", R"("_1")"},
      {"0o8", R"("0o8")"},
      {"0x", R"("0x")"},
      {"1e", R"("1e")"},
      {".", R"(".")"},
      {"-", R"("-")"},
      {"+", R"("+")"},
      {"1-2", R"("1-2")"},
      {"10Gi", R"("10Gi")"},
      {"1.2.3", R"("1.2.3")"},
      {"1:30", R"("1:30")"},
      {".inf", R"(".inf")"},
      {"2020-01-01", R"("2020-01-01")"},
      {"--1", R"("--1")"},
      {"+-1", R"("+-1")"},
      {"0", "0"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"99999999999999999999", "1e+20"},
      {"nan", R"("nan")"},
      {".e5", R"(".e5")"},
  };
  for (const auto& [text, json] : cases) {
    EXPECT_EQ(base::dump_json(yaml_scalar(text)), json) << text;
  }
}

}  // namespace
}  // namespace gangrun::jobfile
