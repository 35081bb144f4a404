#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/records/head.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/map_reader.h"
#include "kubernetes/records/record_place.h"
#include "kubernetes/test_api_server_internal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::records::test {

inline constexpr std::string_view kRecordFolder = "/api/v1/namespaces/lab/configmaps";

// The config maps of a namespace, as an API server keeps them.
struct RecordStore {
  struct Outcome {
    int status = 200;
    std::string reason{};
    base::Json object{};
  };

  Outcome perform(const std::string& method, const std::string& path, const base::Json& body) {
    const bool is_post = method == "POST";
    const std::string name = is_post ? pods::name_of(body) : name_in(path);
    const auto found = maps.find(name);
    if (is_post && found != maps.end()) return {409, "AlreadyExists"};
    if (!is_post && found == maps.end()) return {404, "NotFound"};
    if (method == "DELETE") {
      maps.erase(found);
      return {200, "", {{"kind", "Status"}, {"status", "Success"}}};
    }
    if (method == "GET") return {200, "", found->second};
    base::Json next = is_post ? body : found->second;
    if (method == "PUT") {
      if (version_of(body) != version_of(next)) return {409, "Conflict"};
      const std::string uid = pods::uid_of(next);
      next = body;
      next["metadata"]["uid"] = uid;
    }
    if (method == "PATCH") {
      try {
        next = next.patch(body);
      } catch (const std::exception&) {
        return {422, "Invalid"};  // also of a test that fails
      }
    }
    if (is_post) next["metadata"]["uid"] = base::format("u-{}", ++count);
    next["metadata"]["resourceVersion"] = base::format("{}", ++count);
    maps[name] = next;
    return {200, "", next};
  }

  static std::string name_in(const std::string& path) {
    return path.substr(std::min(path.size(), kRecordFolder.size() + 1));
  }
  static std::string version_of(const base::Json& map) {
    return text_at(map, {"metadata", "resourceVersion"});
  }
  // "PATCH journal-000001-001", "POST journal-000001-002", "GET head".
  static std::string words_of(const std::string& method, const std::string& path,
                              const base::Json& body) {
    const std::string name = method == "POST" ? pods::name_of(body) : name_in(path);
    return base::format("{} {}", method, name.substr(std::min<std::size_t>(name.size(), 2)));
  }

  void put_head(const Head& head) {
    perform("POST", std::string(kRecordFolder), head_map({{"name", "j-head"}}, head));
  }
  // As somebody else changes it.
  void change_head(const std::function<void(Head&)>& change) {
    const ReadHead read = head_in(maps["j-head"]).value();
    Head to = read.head;
    change(to);
    const Outcome done =
        perform("PATCH", std::string(kRecordFolder) + "/j-head", head_patch(read, to));
    EXPECT_EQ(done.status, 200);
  }
  Head head() { return head_in(maps["j-head"]).value().head; }
  std::size_t keys_in(const std::string& name) {
    return value_at(maps[name], {"binaryData"}).size();
  }

  std::map<std::string, base::Json> maps;
  int count = 0;
};

inline RecordPlace place_of(net::EventLoop& loop, base::Logger& logger, Client& client) {
  return {.loop = loop,
          .logger = logger,
          .client = client,
          .name_space = "lab",
          .job_id = "j-20260131",
          .job_name = "j",
          .head_name = "j-head",
          .owner = {"j-owner", "u-owner"},
          .key = records_key(base::Secret("the secret")),
          .labels = {{"gangrun/job", "j-20260131"}},
          .patience = std::chrono::milliseconds(200)};
}

inline Head new_head() {
  Head head;
  head.job = "j-20260131";
  return head;
}

// A server with a job's records. `meddle` comes before each request is served, and says whether it
// has answered it.
struct RecordServer : TestApiServer {
  RecordServer() {
    on_request = [this](TestTalk& talk) { serve(talk); };
    store.put_head(new_head());
  }

  RecordPlace place() { return place_of(loop, *logger, client()); }

  void serve(TestTalk& talk) {
    const base::Json body = body_of(talk);
    const std::string words = RecordStore::words_of(talk.method, talk.path, body);
    asked.push_back(words);
    if (meddle && meddle(talk, words)) return;
    answer(talk, perform(talk));
  }
  RecordStore::Outcome perform(TestTalk& talk) {
    return store.perform(talk.method, talk.path, body_of(talk));
  }
  // Does what it asks, and loses the answer.
  bool lose(TestTalk& talk) {
    EXPECT_EQ(perform(talk).status, 200);
    talk.close();
    return true;
  }
  static void answer(TestTalk& talk, const RecordStore::Outcome& outcome) {
    if (outcome.status != 200) return talk.refuse(outcome.status, outcome.reason, "refused");
    const bool is_metadata =
        talk.field("Accept").find("PartialObjectMetadata") != std::string::npos;
    if (!is_metadata) return talk.answer(outcome.object);
    talk.answer(base::Json{{"kind", "PartialObjectMetadata"},
                           {"metadata", value_at(outcome.object, {"metadata"})}});
  }
  static base::Json body_of(const TestTalk& talk) {
    return talk.body.empty() ? base::Json() : base::parse_json(talk.body, kMaxObjectBytes).value();
  }
  [[nodiscard]] std::ptrdiff_t count(const std::string& words) const {
    return std::ranges::count_if(
        asked, [&](const std::string& request) { return request.starts_with(words); });
  }
  // For a while nothing else happens.
  void idle(base::Duration time) {
    loop.run_until([] { return false; }, loop.now() + time);
  }

  RecordStore store;
  std::function<bool(TestTalk& talk, const std::string& words)> meddle;
  std::vector<std::string> asked;
};

// One master's hold on the head, and what it was told.
struct Office {
  explicit Office(RecordServer& server, const std::string& pod = "pod-1") : Office(server.place()) {
    claim(pod, server.deadline());
  }
  explicit Office(const RecordPlace& place)
      : keeper(place, {.on_deposed = [this](const base::Error& why) { deposed.push_back(why); },
                       .on_stop = [this](const StopWish& wish) { stops.push_back(wish); }}) {}

  void claim(const std::string& pod, base::Instant deadline) {
    const auto head = keeper.claim(
        pod, "u-" + pod, [] { return base::Result<>(); }, deadline);
    EXPECT_TRUE(head.ok()) << head.error().message;
    EXPECT_TRUE(keeper.is_in_office());
  }

  HeadKeeper keeper;
  std::vector<base::Error> deposed;
  std::vector<StopWish> stops;
};

}  // namespace gangrun::kubernetes::records::test
