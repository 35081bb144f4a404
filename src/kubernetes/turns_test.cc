#include "kubernetes/turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace gangrun::kubernetes {
namespace {

struct TurnsFixture {
  Turns::Turn take(int number) {
    return turns.take([this, number] { served.push_back(number); });
  }
  void settle() {
    bool done = false;
    const net::Timer end = loop.after(base::milliseconds(1), [&] { done = true; });
    loop.run_until([&] { return done; }, loop.now() + base::seconds(20));
  }

  net::EventLoop loop;
  Turns turns{loop, 2};
  std::vector<int> served;
};

TEST(Turns, NoMoreThanAllowedAndInOrder) {
  TurnsFixture fixture;
  std::vector<Turns::Turn> all;
  for (int i = 0; i < 5; ++i) all.push_back(fixture.take(i));
  EXPECT_TRUE(fixture.served.empty());
  fixture.settle();
  EXPECT_EQ(fixture.served, (std::vector{0, 1}));
  all[3].reset();  // leaves the queue
  all[0].reset();
  fixture.settle();
  EXPECT_EQ(fixture.served, (std::vector{0, 1, 2}));
  all[2].reset();
  all[1].reset();
  fixture.settle();
  EXPECT_EQ(fixture.served, (std::vector{0, 1, 2, 4}));
}

TEST(Turns, ATurnMayOutliveThem) {
  net::EventLoop loop;
  Turns::Turn turn;
  {
    Turns turns(loop, 1);
    bool has = false;
    turn = turns.take([&] { has = true; });
    ASSERT_TRUE(loop.run_until([&] { return has; }, loop.now() + base::seconds(20)));
  }
  turn.reset();
}

}  // namespace
}  // namespace gangrun::kubernetes
