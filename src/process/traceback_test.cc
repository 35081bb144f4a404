#include "process/traceback.h"

#include <gmock/gmock.h>

#include "base/strings.h"

namespace gangrun::process {
namespace {

std::optional<std::string> traceback(const std::string& text) {
  return python_traceback(base::split(text, '\n'));
}

const std::string kPlain =
    "Traceback (most recent call last):\n"
    "  File \"train.py\", line 3, in <module>\n"
    "    main()\n"
    "  File \"train.py\", line 2, in main\n"
    "    raise ValueError(\"x\")\n"
    "    ^^^^^^^^^^^^^^^^^^^^^\n"
    "ValueError: x";

TEST(PythonTraceback, IsFoundAmongOtherLines) {
  EXPECT_EQ(traceback("starting\n" + kPlain + "\nbye\nbye again"), kPlain);
  EXPECT_EQ(traceback(kPlain), kPlain);
}

TEST(PythonTraceback, TheLastOfSeveralIsTaken) {
  const std::string other =
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in f\n"
      "KeyError: 'k'";
  EXPECT_EQ(traceback(kPlain + "\nretrying\n" + other), other);
}

TEST(PythonTraceback, AChainIsGivenWhole) {
  for (const std::string words :
       {"During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:"}) {
    const std::string chain = kPlain + "\n\n" + words +
                              "\n\nTraceback (most recent call last):\n"
                              "  File \"train.py\", line 9, in <module>\n"
                              "RuntimeError: y";
    EXPECT_EQ(traceback("log\n" + chain + "\nmore"), chain);
  }
}

TEST(PythonTraceback, AMessageOfSeveralLinesDoesNotBreakAChain) {
  const std::string chain = kPlain +
                            "\nsecond line of the message\n\n"
                            "During handling of the above exception, another exception occurred:"
                            "\n\nTraceback (most recent call last):\n"
                            "  File \"b.py\", line 9, in <module>\n"
                            "SystemError: z";
  EXPECT_EQ(traceback(chain), chain);
}

TEST(PythonTraceback, PrefixesOfALauncherAreTakenOff) {
  EXPECT_EQ(traceback("[rank1]: Traceback (most recent call last):\n"
                      "[rank0]:   another's line\n"
                      "[rank1]:   File \"t.py\", line 1, in <module>\n"
                      "plain\n"
                      "[rank1]: ValueError: x\n"
                      "[rank0]: end"),
            "Traceback (most recent call last):\n"
            "  File \"t.py\", line 1, in <module>\n"
            "ValueError: x");
}

// The cause of such a failure was the heading.
TEST(PythonTraceback, AnUnfinishedLineBeforeTheHeadingIsNoPrefix) {
  for (const std::string unfinished : {"epoch 3 ...", "\r 20%|##  |", "  2 of 7", "Loss: "}) {
    EXPECT_EQ(traceback("starting\n" + unfinished + kPlain), kPlain) << unfinished;
    std::string of_rank;
    for (const std::string& line : base::split(unfinished + kPlain, '\n')) {
      of_rank += "[rank0]: " + line + "\n[rank1]:   fine\n";
    }
    EXPECT_EQ(traceback(of_rank), kPlain) << unfinished;
  }
}

// The cause of such a failure was a ruler.
TEST(PythonTraceback, AGroupHasItsOwnOrThatOfTheLastInIt) {
  const std::string group =
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"train.py\", line 1, in <module>\n"
      "  | ExceptionGroup: eg (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n";
  EXPECT_EQ(traceback("starting\n" + group + "    | ValueError: a\n" +
                      "    +---------------- 2 ----------------\n    | TypeError: b\n" +
                      "    +------------------------------------"),
            "Exception Group Traceback (most recent call last):\n"
            "  File \"train.py\", line 1, in <module>\n"
            "ExceptionGroup: eg (2 sub-exceptions)");
  EXPECT_EQ(traceback(group + "    | Traceback (most recent call last):\n"
                              "    |   File \"train.py\", line 7, in load\n"
                              "    | ValueError: bad shard 7\n"
                              "    +------------------------------------"),
            "Traceback (most recent call last):\n  File \"train.py\", line 7, in load\n"
            "ValueError: bad shard 7");
  EXPECT_EQ(traceback("    | Exception Group Traceback (most recent call last):\n"
                      "    |   File \"train.py\", line 2, in f\n"
                      "    | ExceptionGroup: inner (1 sub-exception)\n"
                      "    +-+---------------- 1 ----------------\n      | ValueError: a\n"),
            "Exception Group Traceback (most recent call last):\n"
            "  File \"train.py\", line 2, in f\nExceptionGroup: inner (1 sub-exception)");
}

TEST(PythonTraceback, OneThatIsCutIsGivenAsFarAsItGoes) {
  for (std::size_t cut = kPlain.find('\n'); cut < kPlain.size(); ++cut) {
    const auto found = traceback(kPlain.substr(0, cut));
    ASSERT_TRUE(found) << cut;
    EXPECT_TRUE(found->starts_with("Traceback (most recent call last):"));
  }
  EXPECT_EQ(traceback("  File \"x.py\", line 1, in f\nValueError: cut at the top"), std::nullopt);
}

TEST(PythonTraceback, WhereThereIsNoneThereIsNone) {
  EXPECT_EQ(python_traceback({}), std::nullopt);
  EXPECT_EQ(traceback("Segmentation fault"), std::nullopt);
  EXPECT_EQ(traceback("a Traceback (most recent call last): was seen"), std::nullopt);
}

}  // namespace
}  // namespace gangrun::process
