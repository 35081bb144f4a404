#include "job/choice.h"

#include <gmock/gmock.h>

#include <set>

#include "job/spec.h"

namespace gangrun::job {
namespace {

template <typename T>
class Choices : public testing::Test {};
using AllChoices = testing::Types<Policy, RestartScope, Containment, Hold, Expose, StopSignal,
                                  StopSignalTo, NoticeSignal>;
TYPED_TEST_SUITE(Choices, AllChoices);

TYPED_TEST(Choices, ReadBackFromTheirNames) {
  const std::vector<std::string> names = choice_names<TypeParam>();
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  for (const auto& [value, name] : kChoice<TypeParam>.names) {
    EXPECT_EQ(to_string(value), name);
    const auto back = choice_from<TypeParam>(name);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, value);
  }
}

TYPED_TEST(Choices, RefuseWhatIsNoneOfThem) {
  for (const char* text : {"", "trackd", "SIG", "SIGnone", "until"}) {
    const auto value = choice_from<TypeParam>(text);
    ASSERT_FALSE(value.ok()) << text;
    for (const std::string& name : choice_names<TypeParam>()) {
      EXPECT_THAT(value.error().message, testing::HasSubstr(name));
    }
  }
}

TEST(Choice, NamesOfOtherProgramsAreToldOurs) {
  const std::vector<std::string> keys{"vcores", "gpus", "memory", "instances"};
  EXPECT_EQ(not_one_of("cpus", "a known key", keys).message,
            "'cpus' is not a known key; did you mean 'vcores'? allowed: vcores, gpus, memory, "
            "instances");
  EXPECT_EQ(not_one_of("torch", "a known key", keys).message,
            "'torch' is not a known key; allowed: vcores, gpus, memory, instances");
}

TEST(Choice, ANameIsMeantInAnyCase) {
  const std::vector<std::string> frameworks{"tensorflow", "pytorch", "none"};
  const std::pair<const char*, const char*> meant[] = {
      {"TF", "tensorflow"}, {"Torch", "pytorch"}, {"PyTorch", "pytorch"}, {"None", "none"}};
  for (const auto& [text, ours] : meant) EXPECT_EQ(same_name(text, frameworks), ours);
}

TEST(Choice, AnErrorSaysWhatWasMeantAndWhatIsAllowed) {
  EXPECT_EQ(choice_from<Policy>("trackd").error().message,
            "'trackd' is not a policy; did you mean 'tracked'? allowed: tracked, service, "
            "observer, sidecar");
  EXPECT_EQ(choice_from<StopSignal>("SIGSEGV").error().message.substr(0, 36),
            "'SIGSEGV' is not a signal to stop by");
}

TEST(Choice, SignalsHaveTheirLongNamesToo) {
  EXPECT_EQ(*choice_from<StopSignal>("SIGTERM"), StopSignal::kTerm);
  EXPECT_EQ(*choice_from<NoticeSignal>("SIGUSR2"), NoticeSignal::kUsr2);
}

}  // namespace
}  // namespace gangrun::job
