#include "cluster/yarn/client/upload_progress.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/test_context.h"

namespace gangrun::client {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;

void upload(UploadProgress& progress, std::uint64_t size) {
  for (std::uint64_t sent = 0; sent < size; sent += size / 200)
    progress.show("env.zip", sent, size);
  progress.show("env.zip", size, size);
}

TEST(UploadProgress, ALineForAFileAndEachQuarterOfALargeOne) {
  TestContext test;
  UploadProgress progress(test.context().console, {});
  progress.show("nothing", 0, 0);
  progress.show("small", kMib, kMib);
  upload(progress, 200 * kMib);
  EXPECT_EQ(test.err(),
            "gangrun: uploads small (1.0 MiB)\n"
            "gangrun: uploads env.zip (200.0 MiB)\n"
            "gangrun: uploads env.zip: 25 %\n"
            "gangrun: uploads env.zip: 50 %\n"
            "gangrun: uploads env.zip: 75 %\n"
            "gangrun: uploads env.zip: 100 %\n");
  EXPECT_EQ(test.out(), "");
}

TEST(UploadProgress, AnObjectForEachPercent) {
  TestContext test;
  RunOptions options;
  options.display.json = true;
  UploadProgress progress(test.context().console, options);
  upload(progress, 400);
  const std::string out = test.out();
  EXPECT_EQ(out.substr(0, out.find('\n')),
            R"({"event":"upload","name":"env.zip","sent":0,"size":400})");
  EXPECT_NE(out.find(R"("sent":400,"size":400})"), std::string::npos);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 101);
  EXPECT_EQ(test.err(), "");
}

TEST(UploadProgress, IsSilentWhereOnlyTheJobIsPrinted) {
  TestContext test;
  RunOptions detached;
  detached.display.json = true;
  detached.detach = true;
  UploadProgress(test.context().console, detached).show("a", 1, 2);
  RunOptions quiet;
  quiet.display.quiet = true;
  UploadProgress(test.context().console, quiet).show("a", 1, 2);
  EXPECT_EQ(test.out() + test.err(), "");
}

}  // namespace
}  // namespace gangrun::client
