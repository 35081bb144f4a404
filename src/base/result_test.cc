#include "base/result.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <memory>

namespace gangrun::base {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return invalid_argument("odd");
  return number / 2;
}

Result<int> quarter(int number) {
  GANGRUN_ASSIGN(const int once, half(number));
  GANGRUN_ASSIGN(const int twice, half(once));
  return twice;
}

Result<> check_even(int number, int& reached) {
  GANGRUN_TRY(half(number));
  ++reached;
  return {};
}

TEST(Result, AssignGivesTheValueOrReturnsTheError) {
  ASSERT_TRUE(quarter(8).ok());
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).error().code, Code::kInvalidArgument);
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Result, TryStopsAtTheFirstError) {
  int reached = 0;
  EXPECT_TRUE(check_even(2, reached).ok());
  EXPECT_FALSE(check_even(3, reached).ok());
  EXPECT_EQ(reached, 1);
}

TEST(Result, ContextIsPutBeforeAnErrorAndLeavesAValue) {
  const auto failed = half(3).context("while halving 3").context("in a test");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "in a test: while halving 3: odd");
  EXPECT_EQ(failed.error().code, Code::kInvalidArgument);
  EXPECT_EQ(half(4).context("unused").value_or(0), 2);
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto read = [&]() -> Result<int> {
    GANGRUN_ASSIGN(const auto pointer, make().context("unused"));
    return *pointer;
  };
  EXPECT_EQ(read().value_or(0), 7);
}

TEST(FromErrno, ChoosesTheCodeThatCallersBranchOn) {
  const std::pair<int, Code> cases[] = {
      {ENOENT, Code::kNotFound},          {EEXIST, Code::kAlreadyExists},
      {EACCES, Code::kPermissionDenied},  {EROFS, Code::kPermissionDenied},
      {ENOSPC, Code::kResourceExhausted}, {EMFILE, Code::kResourceExhausted},
      {ECONNREFUSED, Code::kUnavailable}, {ETIMEDOUT, Code::kDeadlineExceeded},
      {ENOTDIR, Code::kInvalidArgument},  {EXDEV, Code::kInternal}};
  for (const auto& [number, code] : cases) EXPECT_EQ(from_errno(number, "x").code, code) << number;
  EXPECT_EQ(from_errno(ENOENT, "open /x").message, "open /x: No such file or directory");
}

TEST(Code, EveryOneHasItsOwnName) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    const std::string name(to_string(static_cast<Code>(i)));
    EXPECT_THAT(names, testing::Not(testing::Contains(name)));
    names.push_back(name);
  }
  EXPECT_EQ(names.front(), "invalid_argument");
  EXPECT_EQ(names.back(), "internal");
}

}  // namespace
}  // namespace gangrun::base
