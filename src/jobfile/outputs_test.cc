#include "jobfile/outputs.h"

#include <gmock/gmock.h>

namespace gangrun::jobfile {
namespace {

TEST(Outputs, AreRelativePaths) {
  EXPECT_FALSE(check_outputs({"model/", "a/b.txt", ".hidden", "..a", "a b"}, "outputs"));
  const std::vector<std::string> bad[] = {{""},    {"/"},    {"/a"},  {"../a"}, {"a/../b"}, {"."},
                                          {"a//"}, {"a/.."}, {"./a"}, {"a\nb"}, {"a", "a/"}};
  for (const auto& outputs : bad) {
    const auto found = check_outputs(outputs, "outputs");
    ASSERT_TRUE(found) << outputs.front();
    EXPECT_EQ(found->path, outputs.size() == 1 ? "outputs.0" : "outputs.1");
  }
  EXPECT_TRUE(check_outputs(std::vector<std::string>(65, "a"), "outputs"));
}

}  // namespace
}  // namespace gangrun::jobfile
