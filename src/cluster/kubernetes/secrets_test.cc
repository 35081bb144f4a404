#include "cluster/kubernetes/secrets.h"

#include <gmock/gmock.h>

#include "cluster/kubernetes/manifests_for_tests.h"

namespace gangrun::cluster {
namespace {

using base::Json;

TEST(Secrets, AreKnownByTheirNames) {
  for (const char* name : {"DB_PASSWORD", "db_passwd", "HF_TOKEN", "HFTOKEN", "AWS_ACCESS_KEY_ID",
                           "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_KEY", "GITHUB_PAT",
                           "MYSQL_PWD", "OPENAI_APIKEY", "app.token", "GOOGLE_CREDENTIALS"}) {
    EXPECT_TRUE(looks_secret(name)) << name;
  }
  for (const char* name : {"TOKENIZERS_PARALLELISM", "MAX_TOKENS", "KEYBOARD", "PATH", "PWD",
                           "OLDPWD", "TF_CONFIG", "PASSES", ""}) {
    EXPECT_FALSE(looks_secret(name)) << name;
  }
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
}  // namespace gangrun::cluster
