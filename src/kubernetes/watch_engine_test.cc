#include "kubernetes/watch_engine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gangrun::kubernetes {
namespace {

base::Json pod(const std::string& name, const std::string& version) {
  return {{"kind", "Pod"},
          {"metadata",
           {{"name", name}, {"managedFields", {{{"manager", "x"}}}}, {"resourceVersion", version}}},
          {"spec", {{"managedFields", "of its own"}}}};
}

std::string page(std::vector<base::Json> items, const std::string& version,
                 const std::string& next = "") {
  const base::Json metadata = {{"resourceVersion", version}, {"continue", next}};
  return base::Json{{"kind", "PodList"}, {"metadata", metadata}, {"items", items}}.dump();
}

std::string event(const std::string& type, const base::Json& object) {
  return base::Json{{"type", type}, {"object", object}}.dump() + "\n";
}

std::string error_event(int code) {
  return event("ERROR", {{"kind", "Status"}, {"code", code}, {"message", "why"}});
}

std::string value_of(const Query& query, const std::string& name) {
  const auto found =
      std::find_if(query.begin(), query.end(), [&](const auto& one) { return one.first == name; });
  return found == query.end() ? "none" : found->second;
}

WatchEngine listed() {
  WatchEngine engine({"/pods", "job=a"});
  EXPECT_TRUE(engine.take_page(page({}, "5")).ok());
  return engine;
}

TEST(WatchEngine, PagesAreListedThenWatchedFromThere) {
  WatchEngine engine({"/pods", "job=a"});
  EXPECT_TRUE(engine.lists());
  EXPECT_EQ(value_of(engine.query(0), "limit"), "500");
  EXPECT_EQ(value_of(engine.query(0), "labelSelector"), "job=a");
  const auto first = engine.take_page(page({pod("a", "1")}, "7", "more"));
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->has_value());
  EXPECT_EQ(value_of(engine.query(0), "continue"), "more");
  const auto last = engine.take_page(page({pod("b", "2")}, "7"));
  ASSERT_TRUE(last.ok() && last->has_value());
  ASSERT_EQ((*last)->size(), 2U);
  EXPECT_EQ((**last)[1]["metadata"]["name"], "b");
  EXPECT_FALSE(engine.lists());
  EXPECT_EQ(value_of(engine.query(0), "resourceVersion"), "7");
  EXPECT_EQ(value_of(engine.query(0), "allowWatchBookmarks"), "true");
  EXPECT_EQ(value_of(engine.query(0), "timeoutSeconds"), "300");
  EXPECT_EQ(value_of(engine.query(1), "timeoutSeconds"), "600");
  EXPECT_EQ(value_of(engine.query(1), "limit"), "none");
}

TEST(WatchEngine, AListWithoutAnEndIsNone) {
  WatchEngine engine({"/pods", "job=a"});
  for (int number = 0; number < kMaxPages; ++number) {
    ASSERT_TRUE(engine.take_page(page({pod("a", "1")}, "7", "more")).ok()) << number;
  }
  EXPECT_FALSE(engine.take_page(page({pod("a", "1")}, "7", "more")).ok());
  // It begins again.
  EXPECT_EQ(value_of(engine.query(0), "continue"), "none");
  const auto whole = engine.take_page(page({pod("b", "2")}, "8"));
  ASSERT_TRUE(whole.ok() && whole->has_value());
  EXPECT_EQ((*whole)->size(), 1U);
}

TEST(WatchEngine, ManagedFieldsAreLeftOutAndNothingElse) {
  WatchEngine engine({"/pods", ""});
  auto objects = engine.take_page(page({pod("a", "1")}, "5"));
  ASSERT_TRUE(objects.ok() && objects->has_value());
  std::vector<Change> changes;
  ASSERT_TRUE(engine.put(event("ADDED", pod("a", "6")), changes).ok());
  ASSERT_EQ(changes.size(), 1U);
  for (const base::Json& object : {(**objects)[0], changes[0].object}) {
    EXPECT_FALSE(object["metadata"].contains("managedFields"));
    EXPECT_EQ(object["spec"]["managedFields"], "of its own");
    EXPECT_TRUE(object["metadata"].contains("resourceVersion"));
  }
}

TEST(ParseObjects, TellsAnAnswerOfTooManyValuesFromOneThatIsNone) {
  const std::string text = page({pod("a", "1"), pod("b", "2")}, "5");
  // Two pods, each with its kind, its metadata (of two, what is left out not counted) and its spec
  // (of one); the list, its kind, its metadata of two, its items.
  constexpr std::size_t kValues = 2 * (1 + 1 + 3 + 2) + 6;
  const auto whole = parse_objects(text, 3, text.size(), kValues);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole->values, kValues);
  const auto refused = parse_objects(text, 3, text.size(), kValues - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kResourceExhausted);
  const auto none = parse_objects("[]", 3, 2, 1);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, base::Code::kUnavailable);
}

TEST(WatchEngine, ChangesWhereverTheirBytesAreSplit) {
  const std::string bytes = event("ADDED", pod("a", "6")) + event("DELETED", pod("a", "8")) +
                            event("BOOKMARK", {{"metadata", {{"resourceVersion", "9"}}}}) + "\n";
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    WatchEngine engine = listed();
    std::vector<Change> changes;
    ASSERT_TRUE(engine.put(std::string_view(bytes).substr(0, split), changes).ok());
    ASSERT_TRUE(engine.put(std::string_view(bytes).substr(split), changes).ok());
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_FALSE(changes[0].is_deleted);
    EXPECT_TRUE(changes[1].is_deleted);
    EXPECT_EQ(changes[1].object["metadata"]["resourceVersion"], "8");
    EXPECT_EQ(value_of(engine.query(0), "resourceVersion"), "9");
  }
}

TEST(WatchEngine, AnEndInTheMiddleOfALineLosesNothing) {
  WatchEngine engine = listed();
  std::vector<Change> changes;
  ASSERT_TRUE(engine.put(event("ADDED", pod("a", "6")) + "{\"type\":\"ADD", changes).ok());
  engine.end_watch();
  EXPECT_EQ(value_of(engine.query(0), "resourceVersion"), "6");
  ASSERT_TRUE(engine.put(event("ADDED", pod("b", "7")), changes).ok());
  EXPECT_EQ(changes.size(), 2U);
}

TEST(WatchEngine, AVersionThatIsTooOldOrTooNewIsListedAgain) {
  for (const int code : {410, 504}) {
    WatchEngine engine = listed();
    std::vector<Change> changes;
    EXPECT_FALSE(engine.put(event("ADDED", pod("a", "6")) + error_event(code), changes).ok());
    EXPECT_EQ(changes.size(), 1U);
    EXPECT_TRUE(engine.lists());
    EXPECT_EQ(value_of(engine.query(0), "limit"), "500");
    ASSERT_TRUE(engine.take_page(page({}, "9")).ok());
    EXPECT_FALSE(engine.lists());
  }
  WatchEngine engine = listed();
  EXPECT_TRUE(engine.refused({410, "Expired", "", nullptr}));
  EXPECT_TRUE(engine.lists());
}

TEST(WatchEngine, OtherErrorsGoOnFromWhereItWas) {
  WatchEngine engine = listed();
  std::vector<Change> changes;
  const auto taken = engine.put(error_event(500), changes);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, base::Code::kUnavailable);
  EXPECT_FALSE(engine.lists());
  EXPECT_EQ(value_of(engine.query(0), "resourceVersion"), "5");
  EXPECT_FALSE(engine.refused({403, "Forbidden", "", nullptr}));
}

TEST(WatchEngine, PagesThatExpireAreAskedForInOne) {
  WatchEngine engine({"/pods", ""});
  ASSERT_TRUE(engine.take_page(page({pod("a", "1")}, "7", "more")).ok());
  EXPECT_TRUE(engine.refused({410, "Expired", "", nullptr}));
  EXPECT_EQ(value_of(engine.query(0), "limit"), "none");
  EXPECT_EQ(value_of(engine.query(0), "continue"), "none");
  EXPECT_FALSE(engine.refused({410, "Expired", "", nullptr}));
  const auto objects = engine.take_page(page({pod("b", "1")}, "8"));
  ASSERT_TRUE(objects.ok() && objects->has_value());
  EXPECT_EQ((*objects)->size(), 1U);
}

TEST(WatchEngine, WhatIsNoAnswerOfAnApiServer) {
  WatchEngine engine({"/pods", ""});
  for (const char* body : {"", "<html>", "[]", "{}", R"({"items":[]})", R"({"items":5})",
                           R"({"items":[],"metadata":{"resourceVersion":5}})"}) {
    EXPECT_FALSE(engine.take_page(body).ok()) << body;
    EXPECT_TRUE(engine.lists());
  }
  EXPECT_FALSE(engine.take_page(std::string(100, '[')).ok());
  for (const char* line : {"x\n", "5\n", "{}\n", "{\"type\":\"ADDED\",\"object\":5}\n",
                           "{\"type\":\"ERROR\",\"object\":{}}\n"}) {
    WatchEngine watching = listed();
    std::vector<Change> changes;
    EXPECT_FALSE(watching.put(line, changes).ok()) << line;
    EXPECT_TRUE(changes.empty());
  }
  std::string deep = R"({"metadata":{"resourceVersion":"5"},"items":[)";
  deep += std::string(200, '[') + std::string(200, ']') + "]}";
  EXPECT_FALSE(engine.take_page(deep).ok());
}

TEST(WatchEngine, AChangeHasALimit) {
  WatchEngine engine = listed();
  std::vector<Change> changes;
  const std::string piece(kMaxEventBytes / 4, 'x');
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(engine.put(piece, changes).ok());
  EXPECT_FALSE(engine.put("x", changes).ok());
  EXPECT_TRUE(engine.lists());
}

}  // namespace
}  // namespace gangrun::kubernetes
