#include "kubernetes/commands/master_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/test_api_server_internal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const pods::Right kMakePods{"create", "", "pods"};
const pods::Right kPatchJobs{"patch", "batch", "jobs"};

// A cluster in which the account may do what is `allowed`.
struct AccountServer : TestApiServer {
  AccountServer() {
    access.name_space = "lab";
    on_request = [this](TestTalk& talk) { serve(talk); };
  }

  AccountVerdict check() {
    return check_account(loop, client(), "leader", {kMakePods, kPatchJobs}, deadline(),
                         [] { return false; });
  }

  bool has_account = true;
  bool may_name_others = true;
  bool may_be_others = true;
  std::string allowed = "pods";  // the resource
  std::vector<std::string> as;   // the users of the reviews

 private:
  void serve(TestTalk& talk) {
    if (talk.path == "/api/v1/namespaces/lab/serviceaccounts/leader") {
      if (!has_account) return talk.refuse(404, "NotFound", "not found");
      return talk.answer(Json{{"kind", "ServiceAccount"}});
    }
    const bool by_name = talk.path.ends_with("/localsubjectaccessreviews");
    if (by_name && !may_name_others) return talk.refuse(403, "Forbidden", "no such right");
    if (!by_name && !may_be_others) return talk.refuse(403, "Forbidden", "cannot impersonate");
    const Json body = base::parse_json(talk.body, 1U << 20U).value();
    as.push_back(by_name ? std::string(text_at(body, {"spec", "user"}))
                         : talk.field("Impersonate-User"));
    const std::string resource = text_at(body, {"spec", "resourceAttributes", "resource"});
    talk.answer(Json{{"status", {{"allowed", resource == allowed}}}});
  }
};

TEST(CheckAccount, AsksByName) {
  AccountServer server;
  const AccountVerdict verdict = server.check();
  EXPECT_TRUE(verdict.is_known && verdict.is_there && verdict.is_refused());
  EXPECT_THAT(verdict.missing, ElementsAre(kPatchJobs));
  EXPECT_THAT(server.as,
              ElementsAre("system:serviceaccount:lab:leader", "system:serviceaccount:lab:leader"));
  EXPECT_EQ(refusal_of(verdict, "leader", "lab").message,
            "kubernetes.master.service_account: in the namespace 'lab' the service account "
            "'leader' has no right to patch jobs.batch");
}

TEST(CheckAccount, AsksAsTheAccountWhereItMayNotNameIt) {
  AccountServer server;
  server.may_name_others = false;
  server.allowed = "jobs";
  const AccountVerdict verdict = server.check();
  EXPECT_TRUE(verdict.is_known);
  EXPECT_THAT(verdict.missing, ElementsAre(kMakePods));
  EXPECT_THAT(server.as,
              ElementsAre("system:serviceaccount:lab:leader", "system:serviceaccount:lab:leader"));
}

TEST(CheckAccount, DoesNotKnowWhereItMayDoNeither) {
  AccountServer server;
  server.may_name_others = false;
  server.may_be_others = false;
  const AccountVerdict verdict = server.check();
  EXPECT_FALSE(verdict.is_known || verdict.is_refused());
  EXPECT_THAT(verdict.why_unknown, HasSubstr("cannot impersonate"));
}

TEST(CheckAccount, MissesTheAccount) {
  AccountServer server;
  server.has_account = false;
  const AccountVerdict verdict = server.check();
  EXPECT_TRUE(verdict.is_refused());
  EXPECT_THAT(server.as, ElementsAre());
  EXPECT_EQ(refusal_of(verdict, "leader", "lab").message,
            "kubernetes.master.service_account: the namespace 'lab' has no service account "
            "'leader'");
  EXPECT_THAT(role_words("leader"), StartsWith("the service account 'leader'"));
}

TEST(CheckClaim, OneThatIsMissingIsAnErrorAndOneThatMayNotBeSeenIsNot) {
  AccountServer server;
  job::JobSpec spec;
  const auto check = [&] {
    return check_claim(server.loop, server.client(), spec, server.deadline(), [] { return false; });
  };
  EXPECT_TRUE(check().ok());  // it names none
  pods::edit_kubernetes(spec).journal.claim = "models";
  for (const int status : {200, 403, 404}) {
    server.on_request = [status](TestTalk& talk) {
      EXPECT_EQ(talk.path, "/api/v1/namespaces/lab/persistentvolumeclaims/models");
      if (status == 200) return talk.answer(Json{{"kind", "PersistentVolumeClaim"}});
      talk.refuse(status, status == 404 ? "NotFound" : "Forbidden", "no");
    };
    EXPECT_EQ(check().ok(), status != 404) << status;
  }
  EXPECT_EQ(check().error().message,
            "kubernetes.journal: the namespace 'lab' has no persistent volume claim 'models'");
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
