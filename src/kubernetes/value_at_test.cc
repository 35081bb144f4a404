#include "kubernetes/value_at.h"

#include <gtest/gtest.h>

namespace gangrun::kubernetes {
namespace {

const base::Json kObject = {{"a", {{"b", "text"}, {"c", {1, 2}}}}, {"d", 5}};

TEST(ValueAtTest, IsThePartThatThePathLeadsTo) {
  EXPECT_EQ(value_at(kObject, {"a", "c"}), base::Json({1, 2}));
  EXPECT_EQ(value_at(kObject, {}), kObject);
  EXPECT_EQ(text_at(kObject, {"a", "b"}), "text");
  EXPECT_EQ(list_at(kObject, {"a", "c"}).size(), 2);
}

TEST(ValueAtTest, WhatIsNotThereOrOfAnotherTypeIsNothing) {
  EXPECT_TRUE(value_at(kObject, {"a", "x"}).is_null());
  EXPECT_TRUE(value_at(kObject, {"d", "x"}).is_null());
  EXPECT_TRUE(value_at(base::Json(), {"a"}).is_null());
  EXPECT_TRUE(value_at(base::Json::array({1}), {"a"}).is_null());
  EXPECT_EQ(text_at(kObject, {"d"}), "");
  EXPECT_EQ(text_at(kObject, {"a", "b", "c"}), "");
  EXPECT_TRUE(list_at(kObject, {"a"}).empty());
  EXPECT_TRUE(list_at(kObject, {"d"}).is_array());
}

}  // namespace
}  // namespace gangrun::kubernetes
