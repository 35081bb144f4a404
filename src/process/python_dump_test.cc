#include "process/python_dump.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include "base/format.h"
#include "base/test_folder.h"
#include "base/unique_fd.h"

namespace gangrun::process {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kLimit(5);

std::atomic<int> calls = 0;
std::atomic<int> fifo_of_handler = -1;
std::atomic<bool> is_silent = false;

void answer(int /*signal*/) {
  ++calls;
  if (is_silent) return;
  constexpr std::string_view kText =
      "Current thread 0x1 (most recent call first):\n  File \"a.py\"\n";
  (void)!::write(fifo_of_handler, kText.data(), kText.size());
}

// This process, as the Python package makes one of a task.
class PythonDumpTest : public testing::Test {
 protected:
  PythonDumpTest() { calls = 0, is_silent = false; }
  ~PythonDumpTest() override { std::signal(SIGURG, SIG_DFL); }

  void open_fifo(const std::string& name) {
    const std::string path = folder_.path() + "/" + name;
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    fifo_.reset(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(fifo_.valid());
    ::unlink(path.c_str());
    fifo_of_handler = fifo_.get();
  }
  static auto look(base::Duration limit = kLimit) {
    return python_dump(::getpid(), std::chrono::steady_clock::now() + limit);
  }

  base::TestFolder folder_;
  base::UniqueFd fifo_;
};

TEST_F(PythonDumpTest, AProcessThatIsRegisteredAnswers) {
  open_fifo(base::format("{}{}", kDumpName, ::getpid()));
  std::signal(SIGURG, answer);
  for (int i = 0; i < 2; ++i) {
    // Text that nobody has read is not taken for the answer.
    (void)!::write(fifo_.get(), "old\n", 4);
    const auto text = look();
    ASSERT_TRUE(text && text->ok()) << text->error().message;
    EXPECT_EQ(**text, "Current thread 0x1 (most recent call first):\n  File \"a.py\"");
  }
  EXPECT_EQ(calls, 2);
}

TEST_F(PythonDumpTest, NothingIsSentToOneThatIsNot) {
  EXPECT_FALSE(look());
  std::signal(SIGURG, answer);
  EXPECT_FALSE(look()) << "a handler alone may be the user's";
  // As the process has it that this one was forked from.
  open_fifo(base::format("{}{}", kDumpName, ::getpid() + 1));
  EXPECT_FALSE(look());
  open_fifo(base::format("{}{}", kDumpName, ::getpid()));
  std::signal(SIGURG, SIG_DFL);
  EXPECT_FALSE(look());
  EXPECT_EQ(calls, 0);
}

TEST_F(PythonDumpTest, OneThatDoesNotAnswerIsLeftAtTheLimit) {
  open_fifo(base::format("{}{}", kDumpName, ::getpid()));
  std::signal(SIGURG, answer);
  is_silent = true;
  const auto text = look(std::chrono::milliseconds(50));
  ASSERT_TRUE(text && !text->ok());
  EXPECT_EQ(text->error().code, base::Code::kDeadlineExceeded);
}

TEST(PythonDump, StatusTellsTheOwnNumber) {
  EXPECT_EQ(own_number("Name:\tpython3\nPid:\t4711\nNSpid:\t4711\t12\n"), 12);
  EXPECT_EQ(own_number("Name:\tpython3\nPid:\t4711\n"), 4711);
  EXPECT_EQ(own_number(""), 0);
}

TEST(PythonDump, TheFifoHasTheNumberOfItsProcess) {
  EXPECT_TRUE(is_dump_fifo("/tmp/gangrun-1f/gangrun-stacks-12 (deleted)", 12));
  EXPECT_FALSE(is_dump_fifo("/tmp/gangrun-1f/gangrun-stacks-12 (deleted)", 1));
  EXPECT_FALSE(is_dump_fifo("/tmp/gangrun-1f/gangrun-stacks-123 (deleted)", 12));
  EXPECT_FALSE(is_dump_fifo("/tmp/gangrun-stacks-12/x", 12));
  EXPECT_FALSE(is_dump_fifo("pipe:[12]", 12));
}

}  // namespace
}  // namespace gangrun::process
