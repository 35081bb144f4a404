#include "kubernetes/pods/amounts.h"

#include <gmock/gmock.h>

namespace gangrun::kubernetes::pods {
namespace {

using testing::Optional;

TEST(Amounts, AreThoseOfKubernetes) {
  EXPECT_THAT(amount_of("500m"), Optional(0.5));
  EXPECT_THAT(amount_of("2"), Optional(2));
  EXPECT_THAT(amount_of(".5"), Optional(0.5));
  EXPECT_THAT(amount_of("64Mi"), Optional(67108864));
  EXPECT_THAT(amount_of("1.5Gi"), Optional(1610612736));
  EXPECT_THAT(amount_of("64M"), Optional(64000000));
  EXPECT_THAT(amount_of("1e3"), Optional(1000));
  for (const char* none : {"", "x", "Mi", "1Xi", "0x10", "nan", "1 Mi", "- 1"}) {
    EXPECT_EQ(amount_of(none), std::nullopt) << none;
  }
}

TEST(Amounts, TheSmallerOneIsTaken) {
  EXPECT_EQ(smaller_amount("256Mi", "1Gi"), "256Mi");
  EXPECT_EQ(smaller_amount("256Mi", "100M"), "100M");
  EXPECT_EQ(smaller_amount("1", "500m"), "500m");
  EXPECT_EQ(smaller_amount("1", "much"), "1");
}

TEST(Amounts, ARefusalNamesTheFieldsToSet) {
  const std::string range =
      "pods \"wine-relay\" is forbidden: maximum memory usage per Container is 48Mi, but limit is "
      "64Mi";
  EXPECT_EQ(amount_refusal(range), AmountRefusal::kRange);
  EXPECT_EQ(fields_for_amounts(range, "kubernetes.relay"),
            "; kubernetes.relay.memory and kubernetes.relay.vcores say what it asks for");
  EXPECT_EQ(amount_refusal("cpu max limit to request ratio per Container is 2, but provided ratio "
                           "is 100.000000"),
            AmountRefusal::kRange);
  EXPECT_EQ(amount_refusal("pods \"a\" is forbidden: exceeded quota: all, requested: pods=1"),
            AmountRefusal::kQuota);
  EXPECT_EQ(amount_refusal("pods \"a\" is forbidden: failed quota: all: must specify limits.cpu"),
            AmountRefusal::kQuota);
  EXPECT_EQ(fields_for_amounts("pods is forbidden: User \"eva\" cannot create", "kubernetes.relay"),
            "");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
