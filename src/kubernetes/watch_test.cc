#include "kubernetes/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/test_api_server_internal.h"

namespace gangrun::kubernetes {
namespace {

using base::Code;
using testing::HasSubstr;

base::Json pod_at(const std::string& name, const std::string& version) {
  return {{"metadata", {{"name", name}, {"resourceVersion", version}}}};
}

std::string event_of(const std::string& type, const base::Json& object) {
  return base::Json{{"type", type}, {"object", object}}.dump() + "\n";
}

struct WatchFixture : TestApiServer {
  WatchFixture() {
    on_request = [this](TestTalk& talk) {
      if (talk.query.contains("watch")) return on_watch(talk);
      on_list(talk);
    };
    on_list = [this](TestTalk& talk) {
      ++listings;
      talk.answer({{"metadata", {{"resourceVersion", "10"}}}, {"items", {pod_at("a", "1")}}});
    };
  }

  void start() {
    WatchCallbacks callbacks;
    callbacks.on_list = [this](std::vector<base::Json> objects) {
      seen.push_back(base::format("list of {}", objects.size()));
    };
    callbacks.on_change = [this](const Change& change) {
      seen.push_back((change.is_deleted ? "-" : "+") +
                     change.object["metadata"]["name"].get<std::string>());
      if (stops_at == seen.size()) watch.reset();
    };
    callbacks.on_trouble = [this](const base::Error& error, bool is_final) {
      troubles.push_back(error);
      is_over = is_final;
    };
    watch = client().watch({"/api/v1/pods", "job=a"}, std::move(callbacks));
  }
  bool wait_for(std::size_t count) {
    return wait([&] { return seen.size() >= count; });
  }

  std::function<void(TestTalk&)> on_list;
  std::function<void(TestTalk&)> on_watch;
  int listings = 0;
  std::vector<std::string> seen;
  std::vector<base::Error> troubles;
  bool is_over = false;
  std::size_t stops_at = 0;
  ActivityHandle watch;
};

using Seen = std::vector<std::string>;

TEST(Watch, ListsThenTellsEachChange) {
  WatchFixture fixture;
  fixture.on_watch = [](TestTalk& talk) {
    EXPECT_EQ(talk.query["resourceVersion"], "10");
    EXPECT_EQ(talk.query["labelSelector"], "job=a");
    talk.begin();
    talk.piece(event_of("ADDED", pod_at("b", "11")));
    talk.piece(event_of("DELETED", pod_at("b", "12")));
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for(3));
  EXPECT_EQ(fixture.seen, (Seen{"list of 1", "+b", "-b"}));
  EXPECT_TRUE(fixture.troubles.empty());
}

TEST(Watch, GoesOnWhereAWatchEndedOrBrokeOff) {
  WatchFixture fixture;
  fixture.on_watch = [&](TestTalk& talk) {
    const std::string version = talk.query["resourceVersion"];
    talk.begin();
    if (version == "10") {
      talk.piece(event_of("BOOKMARK", pod_at("", "20")));
      talk.end();
    } else if (version == "20") {
      talk.piece(event_of("ADDED", pod_at("b", "30")) + "{\"type\"");
      talk.close();
    } else {
      EXPECT_EQ(version, "30");
      talk.piece(event_of("ADDED", pod_at("c", "31")));
    }
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for(3));
  EXPECT_EQ(fixture.seen, (Seen{"list of 1", "+b", "+c"}));
  EXPECT_TRUE(fixture.troubles.empty());
  EXPECT_EQ(fixture.listings, 1);
}

TEST(Watch, WhatIsTooOldIsListedAgain) {
  WatchFixture fixture;
  int watches = 0;
  fixture.on_watch = [&](TestTalk& talk) {
    ++watches;
    if (watches == 1) return talk.refuse(410, "Expired", "too old");
    talk.begin();
    if (watches == 2) {
      return talk.piece(event_of("ERROR", {{"kind", "Status"}, {"code", 410}, {"message", "old"}}));
    }
    talk.piece(event_of("ADDED", pod_at("b", "11")));
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for(4));
  EXPECT_EQ(fixture.seen, (Seen{"list of 1", "list of 1", "list of 1", "+b"}));
  EXPECT_TRUE(fixture.troubles.empty());
}

TEST(Watch, TroublesAreToldAndGoneThrough) {
  WatchFixture fixture;
  fixture.on_watch = [&](TestTalk& talk) {
    if (fixture.troubles.size() == 1) return talk.close();
    // One who served us is not believed at once: it may be starting.
    if (fixture.troubles.size() == 2) return talk.refuse(403, "Forbidden", "who are you");
    talk.begin();
    talk.piece(event_of("ADDED", pod_at("b", "11")));
  };
  const auto on_list = fixture.on_list;
  fixture.on_list = [&](TestTalk& talk) {
    if (fixture.troubles.empty()) return talk.refuse(503, "ServiceUnavailable", "starting");
    on_list(talk);
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait_for(2));
  ASSERT_EQ(fixture.troubles.size(), 3U);
  // For how long, whoever hears of it tells: "has not answered for 7.9 s … for 13 s" was said.
  EXPECT_EQ(fixture.troubles[0].message, "the API server says \"starting\"");
  EXPECT_EQ(fixture.troubles[1].code, Code::kUnavailable);
  EXPECT_EQ(fixture.troubles[2].code, Code::kPermissionDenied);
  EXPECT_FALSE(fixture.is_over);
}

TEST(Watch, ARightThatWasNeverThereIsTheEnd) {
  WatchFixture fixture;
  fixture.on_list = [](TestTalk& talk) {
    talk.refuse(403, "Forbidden",
                "pods is forbidden: User \"eva\" cannot list resource \"pods\" in API group \"\" "
                "in the namespace \"x\"");
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait([&] { return fixture.is_over; }));
  EXPECT_THAT(fixture.troubles[0].message, HasSubstr("no right to list pods in namespace"));
  EXPECT_EQ(fixture.requests, 1);
}

TEST(Watch, MayBeEndedFromItsCallback) {
  WatchFixture fixture;
  fixture.on_watch = [](TestTalk& talk) {
    talk.begin();
    talk.piece(event_of("ADDED", pod_at("b", "11")) + event_of("ADDED", pod_at("c", "12")));
  };
  fixture.stops_at = 2;
  fixture.start();
  ASSERT_TRUE(fixture.wait([&] { return fixture.watch == nullptr; }));
  EXPECT_EQ(fixture.seen, (Seen{"list of 1", "+b"}));
}

}  // namespace
}  // namespace gangrun::kubernetes
