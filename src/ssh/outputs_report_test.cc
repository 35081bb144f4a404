#include "ssh/outputs_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::ssh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HostReport report(std::string host, std::uint64_t files, std::uint64_t bytes) {
  return {.host = std::move(host), .folder = "/c/wine-1-ab/work", .files = files, .bytes = bytes};
}

TEST(OutputsReport, HostsThatAreLikeOthersShareASentence) {
  EXPECT_THAT(outputs_report({report("gpu1", 2, 2048), report("gpu2", 1, 1), report("gpu3", 0, 0)},
                             "/home/ann/outputs", 256, false),
              ElementsAre("3 files (2 KiB) that tasks have written on gpu1, gpu2 are in "
                          "/home/ann/outputs"));
  EXPECT_THAT(outputs_report({report("gpu1", 0, 0)}, "/o", 256, false), IsEmpty());
}

TEST(OutputsReport, WhatIsOverTheLimitIsNamed) {
  HostReport host = report("gpu1", 0, 0);
  host.said.left = {"model.bin"};
  host.said.left_files = 1;
  host.said.left_bytes = std::uint64_t{3} << 29U;
  EXPECT_THAT(outputs_report({host}, "/o", 256, false),
              ElementsAre("1 file of host gpu1 (1.5 GiB) over outputs_limit (256 MiB) stays "
                          "in /c/wine-1-ab/work for a day, for `gangrun fetch`: \"model.bin\""));
}

TEST(OutputsReport, WhatIsMissingAndWhatWasNotBroughtIsTold) {
  HostReport host = report("gpu1", 0, 0);
  host.said.missing = {"model"};
  host.said.failure = "No space left on device";
  EXPECT_THAT(
      outputs_report({host}, "/o", 256, false),
      ElementsAre("no task on host gpu1 has written \"model\"",
                  "what tasks have written on host gpu1 was not all brought, and stays in "
                  "/c/wine-1-ab/work for a day, for `gangrun fetch`: \"No space left on device\""));
}

TEST(OutputsReport, WhatCannotBeBroughtIsNamedAndEmptyFoldersAreCounted) {
  HostReport host = report("gpu1", 1, 1);
  host.folders = 2;
  host.said.odd = {{"pipe", "a FIFO"}};
  host.said.odd_files = 3;
  EXPECT_THAT(outputs_report({host}, "/o", 256, false),
              ElementsAre("1 file and 2 empty folders (1 B) that tasks have written on gpu1 are in "
                          "/o",
                          "what tasks have made on host gpu1 cannot all be brought, and stays in "
                          "/c/wine-1-ab/work for a day: \"pipe\" (a FIFO) and 2 more"));
}

TEST(OutputsReport, AFolderThatIsGoneKeepsNothing) {
  HostReport host = report("gpu1", 0, 0);
  host.said.failure = "its folder is gone";
  host.said.is_gone = true;
  EXPECT_THAT(outputs_report({host}, "/o", 256, false),
              ElementsAre("what tasks have written on host gpu1 was not brought, and is lost: "
                          "/c/wine-1-ab/work is gone"));
}

TEST(OutputsReport, FoldersThatAreKeptAreNamed) {
  EXPECT_THAT(outputs_report({report("gpu1", 0, 0)}, "/o", 256, true),
              ElementsAre("the folders of the job stay until `gangrun rm`: gpu1 "
                          "(/c/wine-1-ab/work)"));
}

}  // namespace
}  // namespace gangrun::ssh
