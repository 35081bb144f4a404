#include "process/open_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/unique_fd.h"
#include "process/spawn.h"

namespace gangrun::process {
namespace {

constexpr rlim_t kFew = 128;

// In a process of its own, as a limit that was raised stays so.
int raise_and_ask() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max <= kFew) return 1;
  const rlim_t most = limit.rlim_max;
  limit.rlim_cur = kFew;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  raise_open_file_limit();
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != most) return 3;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return 4;
  const base::UniqueFd out(ends[0]);
  base::UniqueFd in(ends[1]);
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "ulimit -Sn"};
  options.standard_output = in.get();
  const auto child = spawn(options);
  if (!child.ok()) return 5;
  in.reset();
  std::array<char, 32> text{};
  const ssize_t got = ::read(out.get(), text.data(), text.size());
  return got > 0 && std::string(text.data(), static_cast<std::size_t>(got)) == "128\n" ? 0 : 6;
}

int refuse() {
  const rlimit few{kFew, kFew};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
  if (!check_open_files(kFew).ok()) return 2;
  const auto refused = check_open_files(kFew + 1);
  if (refused.ok()) return 3;
  const std::string& words = refused.error().message;
  const bool has_both = words.find("needs 129 open files") != std::string::npos &&
                        words.find("allowed here: 128 ") != std::string::npos;
  return has_both ? 0 : 4;
}

TEST(OpenFiles, TooManyAreRefusedWithBothNumbers) {
  EXPECT_EXIT(::_exit(refuse()), testing::ExitedWithCode(0), "");
}

TEST(OpenFiles, AreRaisedForUsAndNotForWhatWeStart) {
  EXPECT_EXIT(::_exit(raise_and_ask()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gangrun::process
