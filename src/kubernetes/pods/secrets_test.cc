#include "kubernetes/pods/secrets.h"

#include <gmock/gmock.h>

#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

TEST(Secrets, AreKnownByTheirNames) {
  for (const char* name : {"DB_PASSWORD",
                           "db_passwd",
                           "HF_TOKEN",
                           "HFTOKEN",
                           "AWS_ACCESS_KEY_ID",
                           "WANDB_API_KEY",
                           "AWS_SECRET_ACCESS_KEY",
                           "SSH_KEY",
                           "GITHUB_PAT",
                           "MYSQL_PWD",
                           "OPENAI_APIKEY",
                           "app.token",
                           "GOOGLE_CREDENTIALS",
                           "REGISTRY_AUTH",
                           "BEARER",
                           "MY_JWT",
                           "NETRC",
                           "PGPASS",
                           "PGPASSFILE",
                           "DATABASE_URL",
                           "MLFLOW_TRACKING_URI",
                           "SENTRY_DSN",
                           "AZURE_SAS",
                           "SLACK_WEBHOOK",
                           "AZURE_STORAGE_CONNECTION_STRING",
                           "SSH_PRIVATE_FILE",
                           "HTTP_AUTHORIZATION",
                           "SESSION_COOKIE",
                           "BASICAUTH",
                           "AUTHFILE",
                           "OAUTH2",
                           "DBURL",
                           "REDISURI",
                           "HMAC",
                           "X_HMAC_SHA256",
                           "SESSION_ID",
                           "SESSIONID",
                           "DBPW",
                           "AUTHORISATION",
                           "AUTHOR_TOKEN",
                           "AWS_ACCESS_KEY_ID_2"}) {
    EXPECT_TRUE(looks_secret(name, "x")) << name;
  }
  for (const char* name :
       {"TOKENIZERS_PARALLELISM", "KEYBOARD", "PATH", "PWD", "OLDPWD", "TF_CONFIG", "AUTHOR",
        "EPOCHS", "NCCL_DEBUG", "PYTHONPATH", "AUTHORS", "PAPER_AUTHOR", "CA_AUTHORITY", "N_PASSES",
        "BYPASS", "CURL", "SESSION_TIMEOUT", "MONKEY", ""}) {
    EXPECT_FALSE(looks_secret(name, "http://host/path")) << name;
  }
}

TEST(Secrets, AnAddressWithALoginIsOneWhateverItsName) {
  EXPECT_TRUE(looks_secret("BROKER", "amqp://ann:x@host:5672/"));
  EXPECT_FALSE(looks_secret("BROKER", "amqp://host:5672/"));
  EXPECT_FALSE(looks_secret("CONTACT", "ann@host"));
}

TEST(Secrets, AreInOneObject) {
  ManifestInput input = test::wine_job();
  input.spec.environment = {{"HF_TOKEN", "all"}, {"EPOCHS", "3"}};
  input.spec.tasks.front().environment = {{"DB_PASSWORD", "one"}};
  const Json secret = secret_object(input, test::wine_owner()).value();
  EXPECT_EQ(secret["metadata"]["name"], "wine-20260131-120000-3fa1-secrets");
  EXPECT_EQ(secret["data"], (Json{{"HF_TOKEN", "YWxs"}, {"worker.DB_PASSWORD", "b25l"}}));
  EXPECT_EQ(secret["type"], "Opaque");
}

TEST(Secrets, HaveTheKeyThatTheObjectHas) {
  ManifestInput input = test::wine_job();
  input.spec.environment = {{"HF_TOKEN", "all"}, {"DB_PASSWORD", "all"}};
  job::TaskSpec& task = input.spec.tasks.front();
  task.environment = {{"DB_PASSWORD", "one"}};
  EXPECT_EQ(secret_key(input.spec, task, "HF_TOKEN"), "HF_TOKEN");
  EXPECT_EQ(secret_key(input.spec, task, "DB_PASSWORD"), "worker.DB_PASSWORD");
  EXPECT_EQ(secret_key(input.spec, task, "GANGRUN_TOKEN"), std::nullopt);
  EXPECT_EQ(secret_key(input.spec, task, "TF_CONFIG"), std::nullopt);
}

TEST(Secrets, AreNoObjectWhereThereAreNone) {
  EXPECT_EQ(secret_object(test::wine_job(), test::wine_owner()), std::nullopt);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
