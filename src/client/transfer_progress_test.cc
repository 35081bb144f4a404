#include "client/transfer_progress.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/test_context.h"

namespace gangrun::client {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;

TransferProgress uploads(TestContext& test, const RunOptions& options) {
  Console& console = test.context().console;
  return {console, "upload", TransferProgress::form_for(console, options)};
}

void upload(TransferProgress& progress, std::uint64_t size) {
  for (std::uint64_t sent = 0; sent < size; sent += size / 200)
    progress.show("env.zip", sent, size);
  progress.show("env.zip", size, size);
}

TEST(TransferProgress, ALineForAFileAndEachQuarterOfALargeOne) {
  TestContext test;
  TransferProgress progress = uploads(test, {});
  progress.show("nothing", 0, 0);
  progress.show("tiny", 5, 5);
  progress.show("small", kMib, kMib);
  upload(progress, 200 * kMib);
  EXPECT_EQ(test.err(),
            "gangrun: uploads tiny (5 B)\n"
            "gangrun: uploads small (1 MiB)\n"
            "gangrun: uploads env.zip (200 MiB)\n"
            "gangrun: uploads env.zip: 25 %\n"
            "gangrun: uploads env.zip: 50 %\n"
            "gangrun: uploads env.zip: 75 %\n"
            "gangrun: uploads env.zip: 100 %\n");
  EXPECT_EQ(test.out(), "");
}

TEST(TransferProgress, AnObjectForEachPercent) {
  TestContext test;
  RunOptions options;
  options.display.json = true;
  TransferProgress progress = uploads(test, options);
  upload(progress, 400);
  const std::string out = test.out();
  EXPECT_EQ(out.substr(0, out.find('\n')),
            R"({"event":"upload","name":"env.zip","sent":0,"size":400})");
  EXPECT_NE(out.find(R"("sent":400,"size":400})"), std::string::npos);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 101);
  EXPECT_EQ(test.err(), "");
}

TEST(TransferProgress, IsSilentWhereOnlyTheJobIsPrinted) {
  TestContext test;
  RunOptions detached;
  detached.display.json = true;
  detached.detach = true;
  uploads(test, detached).show("a", 1, 2);
  RunOptions quiet;
  quiet.display.quiet = true;
  uploads(test, quiet).show("a", 1, 2);
  EXPECT_EQ(test.out() + test.err(), "");
}

}  // namespace
}  // namespace gangrun::client
