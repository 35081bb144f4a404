#include "cli/explain.h"

#include <gmock/gmock.h>

#include <map>

#include "job/reason.h"

namespace gangrun::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Explain, ReadsSectionsWithTheirNames) {
  const auto sections = explanations_in(
      "# Title\n\n## Chapter\n\ntext\n\n### First\n\nReason: `one`, `two`\n\n*`it *ended*`*\n\n"
      "See [the page](page.md#x).\n\n## Next\n\nnot of First\n\n### No name\n\ntext\n");
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_THAT(sections[0].reasons, ElementsAre("one", "two"));
  EXPECT_EQ(sections[0].title, "First");
  EXPECT_EQ(sections[0].text, "`it *ended*`\n\nSee the page.");
}

TEST(Explain, EveryReasonHasOneSectionThatSaysWhatToDo) {
  std::map<std::string, int> found;
  for (const Explanation& section : explanations_in(kTroubleshooting)) {
    for (const std::string& reason : section.reasons) ++found[reason];
    EXPECT_FALSE(section.text.empty()) << section.title;
    EXPECT_THAT(section.text, Not(HasSubstr("**"))) << section.title;
    EXPECT_THAT(section.text, Not(HasSubstr("]("))) << section.title;
  }
  for (const auto& [reason, count] : found) EXPECT_EQ(count, 1) << reason;
  for (const job::Reason reason : job::all_reasons()) {
    EXPECT_TRUE(found.contains(std::string(job::to_string(reason)))) << job::to_string(reason);
  }
}

TEST(Explain, AnUnknownReasonIsToldWithANearOne) {
  EXPECT_THAT(explanation_of("preemptd").error().message, HasSubstr("did you mean 'preempted'?"));
  EXPECT_EQ(explanation_of("preempted")->title, "Preempted");
}

}  // namespace
}  // namespace gangrun::cli
