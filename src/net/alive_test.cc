#include "net/alive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gangrun::net {
namespace {

TEST(WhileAlive, WorkIsCalledWithItsValuesUntilTheObjectIsGone) {
  std::optional<Life> life(std::in_place);
  std::string told;
  const std::function<void(std::string)> tell =
      while_alive(*life, [&told](const std::string& word) { told += word; });
  tell("a");
  tell("b");
  life.reset();
  tell("c");
  EXPECT_EQ(told, "ab");
}

TEST(WhileAlive, AnObjectMayGoInItsOwnWork) {
  std::optional<Life> life(std::in_place);
  const auto sign = life->sign();
  bool is_gone = false;
  while_alive(*life, [&] {
    life.reset();
    is_gone = sign.expired();
  })();
  EXPECT_TRUE(is_gone);
}

struct Shared : std::enable_shared_from_this<Shared> {};

TEST(WhileAlive, AnObjectOfSeveralOwnersStaysUntilItsWorkIsDone) {
  auto owner = std::make_shared<Shared>();
  const std::weak_ptr<Shared> object = owner;
  int calls = 0;
  const auto work = while_alive(owner->weak_from_this(), [&] {
    owner.reset();
    ++calls;
    EXPECT_FALSE(object.expired());
  });
  work();
  EXPECT_TRUE(object.expired());
  work();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace gangrun::net
