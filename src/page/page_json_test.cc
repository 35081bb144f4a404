#include "page/page_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::page {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

job::JobSpec spec_with(job::Expose expose) {
  job::JobSpec spec;
  job::TaskSpec worker;
  worker.type = "worker";
  job::TaskSpec board;
  board.type = "tensorboard";
  board.logdir = "out";
  board.expose = expose;
  spec.tasks = {worker, board};
  return spec;
}

job::JobStatus running() {
  job::JobStatus status;
  status.id = "application_1_0001";
  status.name = "wine";
  status.state = job::JobState::kRunning;
  status.folder = "/secret/folder";
  job::TaskStatus worker;
  worker.task = {"worker", 0};
  worker.state = job::TaskState::kRunning;
  worker.attempt = 3;
  worker.address = "node-1:4711";
  worker.memory_bytes = 1 << 20U;
  worker.cpu_seconds = 1.5;
  worker.last_line = "the password is hunter2";
  worker.log_path = "/secret/folder/worker-0";
  job::TaskStatus board = worker;
  board.task = {"tensorboard", 0};
  board.address = "node-2:6006";
  status.tasks = {worker, board};
  return status;
}

TEST(PageJson, ShowsTasksByHostAndNothingOfTheirOutput) {
  auto status = running();
  status.cause = job::Cause{.task = job::TaskId{"worker", 0},
                            .why = {.reason = job::Reason::kExitStatus, .code = 3},
                            .last_lines = {"hunter2"},
                            .traceback = "hunter2"};
  const base::Json json = page_json(spec_with(job::Expose::kLoopback), status);
  const std::string text = base::dump_json(json);
  EXPECT_EQ(base::dump_json(json.at("tasks").at(0)),
            R"({"task":"worker:0","policy":"tracked","state":"running","host":"node-1",)"
            R"("restarts":2,"memory_bytes":1048576,"cpu_seconds":1.5,"exit":""})");
  EXPECT_EQ(json.at("cause"), "worker:0 exited with status 3");
  for (const char* hidden : {"hunter2", "secret", "4711", "6006"}) {
    EXPECT_THAT(text, Not(HasSubstr(hidden)));
  }
}

TEST(PageJson, TellsWhatToTypeForATensorBoardOnLoopback) {
  const Board expected{{"tensorboard", 0}, "gangrun open application_1_0001 tensorboard", ""};
  EXPECT_THAT(boards_of(spec_with(job::Expose::kLoopback), running()), ElementsAre(expected));
}

TEST(PageJson, LinksATensorBoardThatListensForEverybodyWhenItIsThere) {
  auto status = running();
  const auto spec = spec_with(job::Expose::kHost);
  EXPECT_EQ(boards_of(spec, status).at(0).url, "http://node-2:6006/");
  status.tasks[1].state = job::TaskState::kRegistered;
  EXPECT_EQ(boards_of(spec, status).at(0).url, "");
  status.state = job::JobState::kSucceeded;
  EXPECT_THAT(boards_of(spec, status), IsEmpty());
}

// The name of a job is the user's: the page puts it in as text, and this keeps it one.
TEST(PageJson, IsValidWhateverNamesHave) {
  auto status = running();
  status.name = "</script><b>\"\\\n\xff";
  const std::string text = base::dump_json(page_json(spec_with(job::Expose::kLoopback), status));
  const auto read = base::parse_json(text, std::size_t{1} << 20U);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->at("name").get<std::string>(), HasSubstr("</script><b>\"\\\n"));
}

}  // namespace
}  // namespace gangrun::page
