#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "kubernetes/pods/agent_part_maps.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/test_api_server_internal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods::test {

inline const Owner kMapOwner{"wine-owner", "u-wine"};
inline const Owner kOtherMapOwner{"beer-owner", "u-beer"};

inline constexpr std::string_view kMapFolder = "/api/v1/namespaces/lab/configmaps";

// The config maps of a namespace as an API server keeps them, and maps of ours that are to be in
// it. `meddle` comes before each request is served, and says whether it has answered it.
struct MapServer : TestApiServer {
  MapServer() {
    on_request = [this](TestTalk& talk) { serve(talk); };
    limits.patience = base::Duration(0);
  }

  void make() {
    maps =
        std::make_unique<AgentPartMaps>(loop, *logger, client(), parts, "lab", callbacks(), limits);
  }
  // Begins, and waits until they are ready or gone.
  void run() {
    make();
    maps->begin(kMapOwner);
    EXPECT_TRUE(wait([this] { return ready > 0 || !gone.empty(); })) << maps->waiting_for();
  }
  // All are there, and belong to the job.
  void expect_right() {
    EXPECT_EQ(gone, "");
    EXPECT_EQ(ready, 1);
    EXPECT_EQ(maps->waiting_for(), "the agent's config maps: 3 of 3 are there");
    for (std::size_t i = 0; i < parts.map_count(); ++i) {
      const base::Json& object = objects[parts.map_name(i)];
      EXPECT_TRUE(parts.check(i, object).ok());
      EXPECT_TRUE(is_owned_by(object, kMapOwner)) << object;
    }
  }
  base::Json& put(std::size_t index, const Owner& owner = kOtherMapOwner) {
    base::Json& object = objects[parts.map_name(index)];
    object = parts.map(index, "lab", owner);
    object["metadata"]["uid"] = base::format("u-{}", ++made);
    object["metadata"]["resourceVersion"] = base::format("{}", made);
    return object;
  }
  void put_all(const Owner& owner = kOtherMapOwner) {
    for (std::size_t i = 0; i < parts.map_count(); ++i) put(i, owner);
  }
  // How many requests began with these words: "GET", "PATCH 1".
  [[nodiscard]] std::ptrdiff_t count(const std::string& words) const {
    return std::ranges::count_if(
        asked, [&](const std::string& request) { return request.starts_with(words); });
  }
  [[nodiscard]] std::string name(std::size_t index) const { return parts.map_name(index); }
  [[nodiscard]] std::size_t owners(std::size_t index) {
    return list_at(objects[name(index)], {"metadata", "ownerReferences"}).size();
  }

  AgentParts parts = test::small_parts();
  PartMapLimits limits;
  std::map<std::string, base::Json> objects;
  int made = 0;
  std::function<bool(TestTalk& talk, const std::string& request)> meddle;
  std::vector<std::string> asked;  // "GET loader", "GET loader whole", "POST 1"
  std::vector<std::string> known;  // uids
  int ready = 0;
  std::string gone;
  job::Reason reason = job::Reason::kUnknown;
  std::unique_ptr<AgentPartMaps> maps;

 private:
  AgentPartMaps::Callbacks callbacks() {
    AgentPartMaps::Callbacks callbacks;
    callbacks.on_ready = [this] { ++ready; };
    callbacks.on_gone = [this](const std::string& sentence, job::Reason why) {
      EXPECT_EQ(gone, "");
      gone = sentence;
      reason = why;
    };
    callbacks.is_checked = [this](const std::string& uid) {
      return std::ranges::find(known, uid) != known.end();
    };
    callbacks.on_checked = [this](const std::string& of, const std::string& uid) {
      EXPECT_EQ(uid_of(objects[of]), uid);
      known.push_back(uid);
    };
    return callbacks;
  }

  void serve(TestTalk& talk) {
    const base::Json body =
        talk.body.empty() ? base::Json() : base::parse_json(talk.body, 1U << 20U).value();
    const bool is_post = talk.method == "POST";
    const std::string of =
        is_post ? name_of(body)
                : talk.path.substr(std::min(talk.path.size(), kMapFolder.size() + 1));
    EXPECT_THAT(talk.path, testing::StartsWith(std::string(kMapFolder)));
    std::string request = base::format("{} {}", talk.method, of.substr(of.rfind('-') + 1));
    const bool is_metadata =
        talk.field("Accept").find("PartialObjectMetadata") != std::string::npos;
    if (!is_metadata) request += " whole";
    asked.push_back(request);
    if (meddle && meddle(talk, request)) return;
    const bool is_there = objects.contains(of);
    if (is_post && is_there) return talk.refuse(409, "AlreadyExists", "exists");
    if (!is_post && !is_there) return talk.refuse(404, "NotFound", "not found");
    if (is_post) {
      EXPECT_EQ(talk.query["fieldValidation"], "Strict");
      objects[of] = body;
      objects[of]["metadata"]["uid"] = base::format("u-{}", ++made);
    }
    if (talk.method == "PATCH" && !patch(talk, objects[of], body)) return;
    const base::Json& object = objects[of];
    if (!is_metadata) return talk.answer(object);
    talk.answer(base::Json{{"kind", "PartialObjectMetadata"}, {"metadata", object["metadata"]}});
  }

  bool patch(TestTalk& talk, base::Json& object, const base::Json& body) {
    EXPECT_EQ(talk.field("Content-Type"), "application/json-patch+json");
    try {
      object = object.patch(body);
    } catch (const std::exception& error) {
      talk.refuse(422, "Invalid", error.what());
      return false;
    }
    object["metadata"]["resourceVersion"] = base::format("{}", ++made);
    return true;
  }
};

}  // namespace gangrun::kubernetes::pods::test
