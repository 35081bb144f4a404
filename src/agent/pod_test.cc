#include "agent/pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "job/described.h"

namespace gangrun::agent {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kWords = {"--task",   "worker:1",     "--attempt",   "3",
                                         "--config", "/config/file", "--hint-port", "17402",
                                         "--folder", "/run"};

std::vector<std::string> with(std::string flag, std::string value) {
  std::vector<std::string> words = kWords;
  words.push_back(std::move(flag));
  words.push_back(std::move(value));
  return words;
}

TEST(PodWords, AreRead) {
  const auto pod = pod_words_from(kWords);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->task, (job::TaskId{"worker", 1}));
  EXPECT_EQ(pod->attempt, 3);
  EXPECT_EQ(pod->config, "/config/file");
  EXPECT_EQ(pod->folder, "/run");
  EXPECT_EQ(pod->hint_ports, std::vector<std::uint16_t>{17402});
  EXPECT_FALSE(pod->master);
  const auto informed = pod_words_from(with("--master", "10.0.0.7:17400"));
  ASSERT_TRUE(informed);
  EXPECT_EQ(informed->master, (job::Address{"10.0.0.7", 17400}));
}

TEST(PodWords, NameTheChoiceOfPorts) {
  std::vector<std::string> words = kWords;
  words[7] = "20001,20007";
  const auto pod = pod_words_from(words);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->hint_ports, (std::vector<std::uint16_t>{20001, 20007}));
}

TEST(PodWords, MayNameTheTasksOwnPlace) {
  EXPECT_FALSE(pod_words_from(kWords)->own);
  std::vector<std::string> words = with("--host", "worker1");
  EXPECT_FALSE(pod_words_from(words));
  words.insert(words.end(), {"--port", "1999"});
  const auto named = pod_words_from(words);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->own, (job::Address{"worker1", 1999}));
  for (const char* port : {"0", "65536", "x"}) {
    words.back() = port;
    EXPECT_FALSE(pod_words_from(words)) << port;
  }
  EXPECT_FALSE(pod_words_from(with("--port", "1999")));
}

TEST(PodWords, OthersAreNone) {
  EXPECT_FALSE(pod_words_from(with("--master", "nowhere")));
  EXPECT_FALSE(pod_words_from(with("--other", "x")));
  for (std::size_t left_out = 0; left_out < kWords.size(); ++left_out) {
    std::vector<std::string> words = kWords;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_FALSE(pod_words_from(words)) << kWords[left_out];
  }
  for (const auto& [index, value] :
       {std::pair(1, "worker"), {3, "0"}, {3, "x"}, {7, "0"}, {7, "65536"}, {7, "1,"}}) {
    std::vector<std::string> words = kWords;
    words[static_cast<std::size_t>(index)] = value;
    EXPECT_FALSE(pod_words_from(words)) << value;
  }
}

class PodConfig : public testing::Test {
 protected:
  PodConfig() {
    wire::AgentConfig all;
    all.job_id = "wine-1";
    all.spec.name = "wine";
    all.spec.success = "all";
    all.spec.command.words = {"true"};
    job::TaskSpec worker;
    worker.type = "worker";
    worker.instances = 2;
    all.spec.tasks = {worker};
    all.task = {"worker", 0};
    all.secret = base::Secret("0123");
    all.master_port = 4711;
    all.fingerprint = "ab";
    auto made = base::memory_file("config", base::dump_json(base::to_json(all)));
    EXPECT_TRUE(made.ok());
    file = *std::move(made);
    words.config = base::format("/proc/self/fd/{}", file.get());
    words.task = {"worker", 1};
    words.attempt = 2;
    words.folder = "/run";
    EXPECT_EQ(::setenv("GANGRUN_POD_IP", "10.1.2.3", 1), 0);
  }
  ~PodConfig() override { ::unsetenv("GANGRUN_POD_IP"); }

  base::UniqueFd file;
  PodWords words;
};

TEST_F(PodConfig, IsTheJobsWithWhatIsThePodsOwn) {
  const auto config = agent_config_of(words);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->task, words.task);
  EXPECT_EQ(config->attempt, 2);
  EXPECT_EQ(config->host, "10.1.2.3");
  EXPECT_EQ(config->log_prefix, "/run/worker-1");
  EXPECT_EQ(config->working_folder, std::filesystem::current_path().string());
  EXPECT_TRUE(config->in_pod);
  EXPECT_EQ(config->master_host, "");
  EXPECT_EQ(config->fingerprint, "ab");
  // The task has no business with it.
  EXPECT_EQ(::getenv("GANGRUN_POD_IP"), nullptr);
}

TEST_F(PodConfig, HasTheWayToTheMasterWhereThatIsKnown) {
  words.master = job::Address{"10.0.0.7", 17400};
  const auto config = agent_config_of(words);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->master_host, "10.0.0.7");
  EXPECT_EQ(config->master_port, 17400);
}

TEST_F(PodConfig, HasTheTasksOwnPlaceWhereThatIsNamed) {
  words.own = job::Address{"worker1", 1999};
  const auto config = agent_config_of(words);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->host, "worker1");
  EXPECT_EQ(config->wanted_port, 1999);
  EXPECT_EQ(::getenv("GANGRUN_POD_IP"), nullptr);
}

TEST_F(PodConfig, LacksAnAddressOrATask) {
  words.task = {"worker", 2};
  EXPECT_THAT(agent_config_of(words).error().message, HasSubstr("the job has no task worker:2"));
  words.task = {"worker", 1};
  ASSERT_EQ(::unsetenv("GANGRUN_POD_IP"), 0);
  EXPECT_THAT(agent_config_of(words).error().message, HasSubstr("GANGRUN_POD_IP is not set"));
}

}  // namespace
}  // namespace gangrun::agent
