#include "jobfile/resources.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "job/limits.h"

namespace gangrun::jobfile {
namespace {

TEST(Resources, HaveTheNamesThatAClusterCanHave) {
  for (const char* name : {"fpga", "yarn.io/fpga", "nec.com/ve", "a", "A1._-", "x-1.y/disk-2"}) {
    EXPECT_TRUE(check_resource_name(name).ok()) << name;
  }
  const std::string allowed =
      " is not the name of a resource; allowed: a letter, then letters, digits, '.', '_' or '-', "
      "for example fpga or yarn.io/fpga";
  for (const char* name : {"", "1fpga", "a b", "/fpga", "yarn.io/", "a//b", "-a/b", "a-/b",
                           "a..b/c", "yarn.io/1", "yarn_io/fpga", "ü", "a=b", "a,b"}) {
    const auto checked = check_resource_name(name);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_EQ(checked.error().message, base::format("'{}'{}", name, allowed));
  }
  EXPECT_TRUE(check_resource_name(std::string(job::kMaxResourceNameBytes, 'a')).ok());
  EXPECT_FALSE(check_resource_name(std::string(job::kMaxResourceNameBytes + 1, 'a')).ok());
}

TEST(Resources, ThatHaveKeysAreNoOthers) {
  EXPECT_EQ(check_resource_name("yarn.io/gpu").error().message,
            "'yarn.io/gpu' has a key of its own: gpus");
  EXPECT_EQ(check_resource_name("memory-mb").error().message,
            "'memory-mb' has a key of its own: memory");
  EXPECT_FALSE(check_resource_name("vcores").ok());
}

TEST(Resources, AreWholeNumbers) {
  EXPECT_EQ(*parse_resource_amount("0"), 0);
  EXPECT_EQ(*parse_resource_amount(" 7 "), 7);
  EXPECT_EQ(*parse_resource_amount("1125899906842624"), job::kMaxResourceAmount);
  for (const char* text : {"", "-1", "1.5", "2Gi", "x", "1125899906842625"}) {
    const auto parsed = parse_resource_amount(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message,
              base::format(
                  "'{}' is not allowed; allowed: a whole number from 0 to 1125899906842624", text));
  }
}

}  // namespace
}  // namespace gangrun::jobfile
