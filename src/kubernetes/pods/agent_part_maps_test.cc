#include "kubernetes/pods/agent_part_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format.h"
#include "kubernetes/pods/map_server_for_tests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using test::kMapOwner;
using test::MapServer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(AgentPartMaps, AreMadeInANamespaceThatHasNone) {
  MapServer server;
  server.run();
  server.expect_right();
  EXPECT_EQ(server.count("GET"), 3);
  EXPECT_EQ(server.count("POST"), 3);
  EXPECT_EQ(server.asked.size(), 6U);
  EXPECT_EQ(server.known.size(), 3U);
}

TEST(AgentPartMaps, OfAnotherJobAreReadOnceAndShared) {
  MapServer server;
  server.put_all();
  server.run();
  server.expect_right();
  for (const char* one : {"loader", "0", "1"}) {
    EXPECT_EQ(server.count(base::format("GET {} whole", one)), 1);
    EXPECT_EQ(server.count(base::format("GET {}", one)), 3);  // also when it has its owner
    EXPECT_EQ(server.count(base::format("PATCH {}", one)), 1);
  }
  EXPECT_EQ(server.count("POST"), 0);
  EXPECT_EQ(server.owners(0), 2U);
}

TEST(AgentPartMaps, ThatAnEarlierClientHasCheckedAreNotReadAgain) {
  MapServer server;
  server.put_all();
  server.known = {"u-1", "u-2", "u-3"};
  server.run();
  server.expect_right();
  EXPECT_THAT(server.asked, testing::Not(testing::Contains(HasSubstr("whole"))));
  EXPECT_EQ(server.known.size(), 3U);
}

TEST(AgentPartMaps, OfAnEarlierClientOfTheJobOnlyCostALook) {
  MapServer server;
  server.put_all(kMapOwner);
  server.known = {"u-1", "u-2", "u-3"};
  server.run();
  server.expect_right();
  EXPECT_EQ(server.asked.size(), 3U);
  EXPECT_EQ(server.count("GET"), 3);
}

TEST(AgentPartMaps, WhereNobodyOwnsOneTheListBegins) {
  MapServer server;
  server.put_all();
  server.objects[server.name(1)]["metadata"].erase("ownerReferences");
  server.run();
  server.expect_right();
  EXPECT_EQ(server.owners(1), 1U);
}

TEST(AgentPartMaps, WithOtherBytesAreAnErrorThatNamesThem) {
  MapServer server;
  server.put_all(kMapOwner);
  server.objects[server.name(0)]["binaryData"]["loader"] = net::to_base64("evil bytes");
  server.run();
  EXPECT_EQ(server.ready, 0);
  EXPECT_THAT(server.gone, StartsWith(base::format("ConfigMap {} is not the one that gangrun "
                                                   "makes: its loader has other bytes",
                                                   server.name(0))));
  EXPECT_EQ(server.reason, job::Reason::kClusterGone);
  EXPECT_EQ(server.count("PATCH"), 0);
}

TEST(AgentPartMaps, ThatMayChangeAreAnErrorEvenWithTheRightBytes) {
  MapServer server;
  server.put_all(kMapOwner);
  server.objects[server.name(2)]["immutable"] = false;
  server.run();
  EXPECT_THAT(server.gone, HasSubstr("it is not immutable"));
}

TEST(AgentPartMaps, ThatAnotherJobMakesFirstAreShared) {
  MapServer server;
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "POST 0" && server.count("POST 0") == 1) server.put(1);
    return false;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.count("POST 0"), 1);
  EXPECT_EQ(server.count("GET 0 whole"), 1);
  EXPECT_EQ(server.owners(1), 2U);
}

TEST(AgentPartMaps, ThatWereMadeByATryWhoseAnswerWasLostAreFound) {
  MapServer server;
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request != "POST loader" || server.count("POST loader") > 1) return false;
    server.put(0, kMapOwner);
    talk.close();
    return true;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.owners(0), 1U);
}

TEST(AgentPartMaps, ThatBecameOthersBeforeTheyGotTheirOwnerAreReadAgain) {
  MapServer server;
  server.put_all();
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "PATCH 0" && server.count("PATCH 0") == 1) server.put(1);
    return false;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.count("PATCH 0"), 2);
  EXPECT_EQ(server.count("GET 0 whole"), 2);
}

TEST(AgentPartMaps, GetOwnersOfTwoJobsAtOnce) {
  MapServer server;
  server.put_all();
  server.objects[server.name(0)]["metadata"].erase("ownerReferences");
  server.meddle = [&](TestTalk&, const std::string& request) {
    // The other job begins the list.
    if (request == "PATCH loader" && server.count("PATCH loader") == 1) server.put(0);
    return false;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.owners(0), 2U);
}

TEST(AgentPartMaps, AConflictIsReadAgain) {
  MapServer server;
  server.put_all();
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request != "PATCH 1" || server.count("PATCH 1") > 1) return false;
    talk.refuse(409, "Conflict", "the object has been modified");
    return true;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.count("PATCH 1"), 2);
}

TEST(AgentPartMaps, ThatTheCollectorTakesBeforeTheyGetTheirOwnerAreMadeAgain) {
  MapServer server;
  server.put_all();
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "PATCH 0" && server.count("PATCH 0") == 1) {
      server.objects.erase(server.name(1));
    }
    return false;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.count("POST 0"), 1);
}

TEST(AgentPartMaps, ThatTheCollectorTakesAfterwardsAreMadeAgain) {
  MapServer server;
  server.put_all();
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "GET 0" && server.count("PATCH 0") == 1 && server.count("POST 0") == 0) {
      server.objects.erase(server.name(1));
    }
    return false;
  };
  server.run();
  server.expect_right();
  EXPECT_EQ(server.count("POST 0"), 1);
}

TEST(AgentPartMaps, ThatAreBeingDeletedAreMadeWhenTheyAreGone) {
  MapServer server;
  server.put_all(kMapOwner);
  server.objects[server.name(2)]["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z";
  std::string waited;
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "GET 1" && server.count("GET 1") == 3) {
      waited = server.maps->waiting_for();
      server.objects.erase(server.name(2));
    }
    return false;
  };
  server.run();
  server.expect_right();
  EXPECT_THAT(waited, StartsWith("the agent's config maps: "));
  EXPECT_THAT(waited, HasSubstr(base::format("ConfigMap {} is being deleted", server.name(2))));
  EXPECT_EQ(server.count("POST 1"), 1);
}

TEST(AgentPartMaps, WhoseDeletionHasNoEndAreAnError) {
  MapServer server;
  server.put_all(kMapOwner);
  server.limits.deletion = std::chrono::milliseconds(1);
  Json& metadata = server.objects[server.name(2)]["metadata"];
  metadata["deletionTimestamp"] = "2026-01-31T12:00:00Z";
  metadata["finalizers"] = {"example.com/keep"};
  server.run();
  EXPECT_THAT(server.gone, StartsWith(base::format("ConfigMap {} has been waiting for its deletion",
                                                   server.name(2))));
  EXPECT_THAT(server.gone, HasSubstr("(finalizers: example.com/keep)"));
}

// The owner that somebody takes away again was added without end.
TEST(AgentPartMaps, WhoseOwnerDoesNotStayAreAnError) {
  MapServer server;
  server.put_all();
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request != "PATCH 0") return false;
    talk.answer(Json{{"kind", "PartialObjectMetadata"}});
    return true;
  };
  server.run();
  EXPECT_EQ(server.gone,
            base::format("ConfigMap {} cannot be given this job as an owner: something takes it "
                         "away again",
                         server.name(1)));
}

// The refusal of the first request that begins with `words`, and what is said then.
struct RefusedMap {
  std::string words;
  int status;
  std::string reason;
  std::string message;
  std::vector<std::string> said;
};

struct AgentPartMapsRefused : testing::TestWithParam<RefusedMap> {};

TEST_P(AgentPartMapsRefused, SaysWhatTheUserCanDo) {
  MapServer server;
  if (GetParam().words != "POST 0") server.put_all();
  server.limits.progress = base::Duration(0);
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request != GetParam().words) return false;
    talk.refuse(GetParam().status, GetParam().reason, GetParam().message);
    return true;
  };
  server.run();
  EXPECT_EQ(server.ready, 0);
  EXPECT_THAT(server.gone, StartsWith("ConfigMap " + server.name(1)));
  for (const std::string& words : GetParam().said) EXPECT_THAT(server.gone, HasSubstr(words));
  EXPECT_EQ(server.reason, job::Reason::kApiServer);
}

std::string no_right_to_maps(const std::string& verb) {
  return base::format(
      "configmaps is forbidden: User \"eva\" cannot {} resource \"configmaps\" in API group \"\" "
      "in the namespace \"lab\"",
      verb);
}

INSTANTIATE_TEST_SUITE_P(
    EachWay, AgentPartMapsRefused,
    testing::Values(
        RefusedMap{
            "GET 0",
            403,
            "Forbidden",
            no_right_to_maps("get"),
            {"cannot be read: user \"eva\" has no right to get configmaps in namespace \"lab\"",
             "need the rights to create, get and patch config maps"}},
        RefusedMap{
            "GET 0 whole", 403, "Forbidden", no_right_to_maps("get"), {"cannot be read: user"}},
        RefusedMap{"POST 0",
                   403,
                   "Forbidden",
                   no_right_to_maps("create"),
                   {"cannot be created: user \"eva\" has no right to create configmaps",
                    "need the rights to create, get and patch config maps"}},
        RefusedMap{"PATCH 0",
                   403,
                   "Forbidden",
                   no_right_to_maps("patch"),
                   {"cannot be given this job as an owner: user \"eva\" has no right to patch",
                    "need the rights to create, get and patch config maps"}},
        RefusedMap{"POST 0",
                   403,
                   "Forbidden",
                   "configmaps is forbidden: exceeded quota: few, requested: count/configmaps=1",
                   {"cannot be created: the API server says", "exceeded quota",
                    "agents in pods need 3 config maps in a namespace, once for all jobs"}},
        RefusedMap{"POST 0",
                   500,
                   "InternalError",
                   "etcdserver: mvcc: database space exceeded",
                   {"cannot be created", "administrators have to make room"}},
        RefusedMap{"POST 0",
                   413,
                   "RequestEntityTooLarge",
                   "too large",
                   {"cannot be created", "a proxy before the API server"}},
        RefusedMap{"POST 0",
                   503,
                   "ServiceUnavailable",
                   "not now",
                   {"cannot be created: the API server says", "not now"}},
        RefusedMap{
            "PATCH 0",
            422,
            "Invalid",
            "no owners here",
            {"cannot be given this job as an owner: the API server says", "no owners here"}}));

TEST(AgentPartMaps, AServerThatIsBusyIsAskedAgain) {
  MapServer server;
  std::string waited;
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request == "GET 0" && server.count("GET 0") == 2) waited = server.maps->waiting_for();
    if (request != "GET 0" || server.count("GET 0") > 1) return false;
    talk.refuse(503, "ServiceUnavailable", "not now");
    return true;
  };
  server.run();
  server.expect_right();
  EXPECT_THAT(waited, HasSubstr("not now"));
}

TEST(AgentPartMaps, ThatWentAfterwardsAreMadeAgainForAPodThatWaits) {
  MapServer server;
  server.run();
  server.objects.erase(server.name(1));
  server.asked.clear();
  bool is_done = false;
  server.maps->check_again([&] { is_done = true; });
  EXPECT_TRUE(server.wait([&] { return is_done; }));
  server.expect_right();
  EXPECT_EQ(server.count("GET"), 3);
  EXPECT_EQ(server.count("POST"), 1);
}

TEST(AgentPartMaps, ALookThatIsUnderWayIsFollowedByAnother) {
  MapServer server;
  std::vector<std::string> done;
  server.meddle = [&](TestTalk&, const std::string& request) {
    if (request == "POST 0") {
      server.maps->check_again([&] { done.push_back("first"); });
      server.maps->check_again([&] { done.push_back("second"); });
    }
    return false;
  };
  server.run();
  EXPECT_THAT(done, ElementsAre("first", "second"));
  server.expect_right();
  EXPECT_EQ(server.count("GET"), 6);
}

// A job's pods were ended because the server was silent when one of them waited.
TEST(AgentPartMaps, AreWaitedForWithoutALimitOnceTheyWereThere) {
  MapServer server;
  server.limits.progress = base::Duration(0);
  server.run();
  server.meddle = [&](TestTalk& talk, const std::string& request) {
    if (request != "GET 0" || server.count("GET 0") > 3) return false;
    talk.refuse(503, "ServiceUnavailable", "not now");
    return true;
  };
  bool is_done = false;
  server.maps->check_again([&] { is_done = true; });
  EXPECT_TRUE(server.wait([&] { return is_done; }));
  server.expect_right();
}

TEST(AgentPartMaps, AfterTheEndNothingIsCalledBack) {
  MapServer server;
  server.make();
  server.maps->begin(kMapOwner);
  ASSERT_TRUE(server.wait([&] { return !server.asked.empty(); }));
  server.maps->check_again([] { FAIL(); });
  server.maps->end();
  server.maps->check_again([] { FAIL(); });
  // By then the answers have come.
  EXPECT_FALSE(ask(server.loop, server.client(),
                   {.path = std::string(test::kMapFolder) + "/x-y", .wants_metadata_only = true},
                   server.deadline())
                   .ok());
  EXPECT_EQ(server.count("POST"), 0);
  EXPECT_EQ(server.ready, 0);
  EXPECT_EQ(server.gone, "");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
