#include "kubernetes/pods/kueue.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

const KueueGroup kGroup{"lab", "ml", "mine"};

Json pending(const std::string& name, int in_queue, int in_cluster) {
  return {{"metadata", {{"name", name}, {"namespace", "lab"}}},
          {"priority", 0},
          {"localQueueName", "ml"},
          {"positionInClusterQueue", in_cluster},
          {"positionInLocalQueue", in_queue}};
}

Json table(const std::vector<std::vector<Json>>& rows) {
  Json all = {{"kind", "Table"}, {"rows", Json::array()}};
  for (const char* name : {"Name", "Queue", "Reserved in", "Admitted", "Finished", "Age"}) {
    all["columnDefinitions"].push_back({{"name", name}, {"type", "string"}});
  }
  for (const auto& cells : rows) all["rows"].push_back({{"cells", cells}});
  return all;
}

Json lacking(const std::string& message) {
  return {{"status",
           {{"conditions",
             {{{"type", "Admitted"}, {"status", "False"}, {"message", "no"}},
              {{"type", "QuotaReserved"}, {"status", "False"}, {"message", message}}}}}}};
}

TEST(TurnWords, NothingIsKnown) { EXPECT_EQ(turn_words(kGroup, {}), "it waits in queue ml"); }

TEST(TurnWords, WhoWaitsBeforeIt) {
  const auto words = [](std::vector<Json> items) {
    return turn_words(kGroup, {.waiting = Json{{"items", std::move(items)}}});
  };
  EXPECT_EQ(words({pending("mine", 0, 0), pending("c", 1, 1)}), "it is next in queue ml");
  EXPECT_EQ(words({pending("a", 0, 0), pending("b", 1, 2), pending("mine", 2, 3)}),
            "it is number 3 in queue ml, after a, b, and 1 of other queues waits before it");
  EXPECT_EQ(words({pending("mine", 0, 5)}),
            "it is next in queue ml, and 5 of other queues wait before it");
  EXPECT_EQ(words({pending("a", 0, 0)}), "queue ml does not count it yet");
  EXPECT_EQ(words({}), "queue ml does not count it yet");
}

TEST(TurnWords, OfVeryManyOnlyTheFirstAreNamed) {
  Json items = Json::array();
  for (int i = 0; i < 200; ++i) items.push_back(pending(base::format("j{}", i), i, i));
  EXPECT_EQ(turn_words(kGroup, {.waiting = Json{{"items", items}}}),
            "more than 200 wait before it in queue ml: j0, j1, j2, j3 and 196 more");
}

TEST(TurnWords, WhoHasQuotaOfItsQueue) {
  const Json all = table({{"a", "ml", "cluster", "True", Json(), "5s"},
                          {"b", "ml", "cluster", "True", "True", "5s"},
                          {"c", "other", "cluster", "True", Json(), "5s"},
                          {"d", "ml", Json(), Json(), Json(), "5s"},
                          {"mine", "ml", "cluster", Json(), Json(), "5s"}});
  EXPECT_EQ(turn_words(kGroup, {.workloads = all}), "it waits in queue ml; a has quota there");
  EXPECT_EQ(turn_words(kGroup, {.workloads = table({{"a", "ml", "cluster", "True", "", "5s"},
                                                    {"b", "ml", "cluster", "", "False", "5s"}})}),
            "it waits in queue ml; a, b have quota there");
}

TEST(TurnWords, WhatKueueSays) {
  EXPECT_EQ(turn_words(kGroup, {.own = lacking("insufficient unused quota for cpu in flavor f")}),
            "it waits in queue ml; Kueue says \"insufficient unused quota for cpu in flavor f\"");
  Json has = lacking("x");
  has["status"]["conditions"][1]["status"] = "True";
  EXPECT_EQ(turn_words(kGroup, {.own = has}), "it waits in queue ml");
}

// Names and sentences that others have made do not act on a terminal.
TEST(TurnWords, OfAnyJson) {
  for (const Json& odd :
       {Json(), Json(3), Json::array({1}), Json{{"items", {1, "x", {{"metadata", 4}}}}},
        Json{{"rows", {1, {{"cells", {1}}}}}, {"columnDefinitions", {{{"name", "Name"}}}}},
        Json{{"status", {{"conditions", {1, {{"type", 2}}}}}}}}) {
    const std::string words = turn_words(kGroup, {.waiting = odd, .workloads = odd, .own = odd});
    EXPECT_FALSE(words.empty()) << odd;
  }
  const std::string words = turn_words(
      kGroup, {.waiting = Json{{"items", {pending("a\x1b[2J", 0, 0), pending("mine", 1, 1)}}}});
  EXPECT_EQ(words.find('\x1b'), std::string::npos) << words;
}

TEST(KueueRequests, AreSmall) {
  const Request waiting = waiting_request(kGroup, "v1beta2");
  EXPECT_EQ(waiting.path,
            "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/lab/localqueues/ml/"
            "pendingworkloads");
  EXPECT_EQ(waiting.query, (std::vector<std::pair<std::string, std::string>>{{"limit", "200"}}));
  const Request workloads = workloads_request(kGroup, "v1beta1");
  EXPECT_EQ(workloads.path, "/apis/kueue.x-k8s.io/v1beta1/namespaces/lab/workloads");
  EXPECT_TRUE(workloads.wants_table);
  EXPECT_EQ(own_request(kGroup, "v1beta2").path,
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/lab/workloads/mine");
}

Json pod(bool is_deleted, const std::vector<std::string>& finalizers) {
  Json pod = {{"metadata", {{"name", "p"}, {"uid", "u-1"}, {"finalizers", finalizers}}}};
  if (is_deleted) pod["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:30Z";
  return pod;
}

TEST(IsKeptByKueue, WhatIsDeletedAndHasItsFinalizer) {
  const std::string own = "kueue.x-k8s.io/managed";
  EXPECT_TRUE(is_kept_by_kueue(pod(true, {"other", own})));
  EXPECT_FALSE(is_kept_by_kueue(pod(false, {own})));
  EXPECT_FALSE(is_kept_by_kueue(pod(true, {"other"})));
  EXPECT_FALSE(is_kept_by_kueue(Json()));
}

TEST(ReleaseRequest, TakesKueuesFinalizerFromThisPodOnly) {
  const Request request = release_request("lab", pod(true, {}));
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.path, "/api/v1/namespaces/lab/pods/p");
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(base::dump_json(request.body),
            "{\"metadata\":{\"uid\":\"u-1\",\"$deleteFromPrimitiveList/finalizers\":"
            "[\"kueue.x-k8s.io/managed\"]}}");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
