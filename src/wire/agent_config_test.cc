#include "wire/agent_config.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/format.h"
#include "cluster/place_part.h"
#include "job/described.h"

namespace gangrun::wire {
namespace {

using testing::HasSubstr;

AgentConfig example() {
  AgentConfig config;
  config.job_id = "wine-20260131-120000-3fa1";
  config.spec.name = "wine";
  config.spec.success = "all";
  config.spec.command.words = {"true"};
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = 2;
  config.spec.tasks = {worker};
  config.task = {"worker", 1};
  config.attempt = 3;
  config.socket_path = "/x/master.sock";
  config.secret = base::Secret("0123");
  config.host = "127.0.0.1";
  config.host_reason = "as --host says";
  config.wanted_port = 4711;
  config.working_folder = "/x";
  config.log_prefix = "/x/logs/worker-1";
  config.gpus = job::Gpus{job::GpuMaker::kAmd, {{"GPU-1", "GPU-1", "", "dri/renderD128"}}};
  config.place_tells_end = true;
  config.is_fed = true;
  config.sends_last_line_only = true;
  return config;
}

// The names stand twice: what a place sets under another one would reach no agent.
TEST(AgentConfig, HasAllThatAPlaceSets) {
  std::vector<std::string> keys;
  for (const base::MemberWords& member : base::members_of<AgentConfig>()) {
    keys.push_back(member.key);
  }
  for (const base::MemberWords& member : base::members_of<cluster::PlacePart>()) {
    EXPECT_THAT(keys, testing::Contains(member.key));
  }
}

TEST(AgentConfig, GoesToAnAgentAndBack) {
  const AgentConfig sent = example();
  const auto file = base::memory_file("config", base::dump_json(base::to_json(sent)));
  ASSERT_TRUE(file.ok());
  const auto read = read_agent_config(base::format("/proc/self/fd/{}", file->get()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(base::to_json(*read), base::to_json(sent));
  EXPECT_EQ(read->spec, sent.spec);
  EXPECT_TRUE(read->sends_last_line_only);
  EXPECT_TRUE(read->secret.matches("0123"));
}

// A path that arrived changed could not be entered, written or connected to.
TEST(AgentConfig, PathsWordsAndValuesAreBytes) {
  AgentConfig sent = example();
  sent.socket_path = "/h\xff/master.sock";
  sent.working_folder = "/w\xff";
  sent.log_prefix = "/h\xff/logs/worker-1";
  sent.spec.command.words = {"true", "\xfe"};
  sent.spec.environment = {{"A", "\xc3("}};
  const auto file = base::memory_file("config", base::dump_json(base::to_json(sent)));
  ASSERT_TRUE(file.ok());
  const auto read = read_agent_config(base::format("/proc/self/fd/{}", file->get()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->socket_path, sent.socket_path);
  EXPECT_EQ(read->working_folder, sent.working_folder);
  EXPECT_EQ(read->log_prefix, sent.log_prefix);
  EXPECT_EQ(read->spec, sent.spec);
}

TEST(AgentConfig, OfAnotherHostNamesTheMastersCertificate) {
  AgentConfig sent = example();
  sent.socket_path.clear();
  sent.master_host = "h1";
  sent.master_port = 9;
  sent.fingerprint = "ab";
  const auto read = base::from_json<AgentConfig>(base::to_json(sent));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->master_host, "h1");
  EXPECT_EQ(read->master_port, 9);
  EXPECT_EQ(read->fingerprint, "ab");
}

TEST(AgentConfig, WithAMissingOrWrongMemberIsRefused) {
  const base::Json good = base::to_json(example());
  for (const char* key :
       {"job_id", "spec", "task", "attempt", "secret", "host", "host_reason", "log_prefix"}) {
    base::Json bad = good;
    bad.erase(key);
    const auto read = base::from_json<AgentConfig>(bad);
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_THAT(read.error().message, HasSubstr(key));
  }
  base::Json stranger = good;
  stranger["task"] = "worker:2";
  ASSERT_FALSE(base::from_json<AgentConfig>(stranger).ok());
  EXPECT_THAT(base::from_json<AgentConfig>(stranger).error().message, HasSubstr("worker:2"));
}

}  // namespace
}  // namespace gangrun::wire
