#include "hadoop/access_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AccessList, HasUsersAndBehindABlankGroups) {
  EXPECT_EQ(parse_access_list("ann,bob research,ml"),
            (AccessList{false, {"ann", "bob"}, {"ml", "research"}}));
  EXPECT_EQ(parse_access_list(" research"), (AccessList{false, {}, {"research"}}));
  EXPECT_EQ(parse_access_list("ann"), (AccessList{false, {"ann"}, {}}));
  EXPECT_EQ(parse_access_list(""), AccessList{});
  EXPECT_EQ(parse_access_list(" "), AccessList{});
  EXPECT_EQ(parse_access_list(",ann,, ,x"), (AccessList{false, {"ann"}, {"x"}}));
}

TEST(AccessList, AStarIsEverybody) {
  for (const char* text : {"*", " *", "ann,* x"}) {
    EXPECT_TRUE(allows(parse_access_list(text), "nobody", {})) << text;
  }
}

TEST(AccessList, AllowsWhomItNamesAndNobodyElse) {
  const AccessList list = parse_access_list("ann research");
  EXPECT_TRUE(allows(list, "ann", {}));
  EXPECT_TRUE(allows(list, "bob", {"wine", "research"}));
  EXPECT_FALSE(allows(list, "bob", {"wine"}));
  EXPECT_FALSE(allows(list, "research", {}));
  EXPECT_FALSE(allows(list, "", {}));
  EXPECT_FALSE(allows(parse_access_list(""), "", {}));
}

TEST(AccessList, GroupsAreThoseThatNameTheUser) {
  const char* const text = "root:x:0:\nml:x:7:ann,bob\nbroken\nops:x:8:bob\n:::\nwine:x:9: ann\n";
  EXPECT_THAT(groups_of(text, "ann"), ElementsAre("ml", "wine"));
  EXPECT_THAT(groups_of(text, "carl"), IsEmpty());
  EXPECT_THAT(groups_of("", "ann"), IsEmpty());
}

}  // namespace
}  // namespace gangrun::hadoop
