#include "page/page_json.h"

#include <algorithm>

#include "base/format.h"
#include "job/cluster_spec.h"

namespace gangrun::page {

namespace {

constexpr std::string_view kTensorboard = "tensorboard";

bool is_board(const job::TaskSpec& task) {
  return !task.logdir.empty() || task.type == kTensorboard;
}

std::string host_of_task(const job::TaskStatus& task) {
  const auto address = job::parse_address(task.address);
  return address.ok() ? address->host : std::string();
}

base::Json json_of(const job::TaskStatus& task) {
  return {{"task", job::to_string(task.task)},
          {"policy", std::string(job::to_string(task.policy))},
          {"state", std::string(job::to_string(task.state))},
          {"host", host_of_task(task)},
          {"restarts", task.attempt - 1},
          {"memory_bytes", task.memory_bytes},
          {"cpu_seconds", task.cpu_seconds},
          {"exit", task.exit ? job::to_words(*task.exit) : ""}};
}

}  // namespace

std::vector<Board> boards_of(const job::JobSpec& spec, const job::JobStatus& status) {
  std::vector<Board> boards;
  if (job::is_final(status.state)) return boards;
  for (const job::TaskSpec& type : spec.tasks) {
    if (!is_board(type)) continue;
    Board board;
    board.task = {type.type, 0};
    board.command = base::format("gangrun open {} {}", status.id, type.type);
    const auto task = std::find_if(status.tasks.begin(), status.tasks.end(),
                                   [&](const auto& one) { return one.task == board.task; });
    const bool is_there = task != status.tasks.end() && task->state == job::TaskState::kRunning;
    if (is_there && type.expose == job::Expose::kHost && !task->address.empty()) {
      board.url = base::format("http://{}/", task->address);
    }
    boards.push_back(std::move(board));
  }
  return boards;
}

base::Json page_json(const job::JobSpec& spec, const job::JobStatus& status) {
  base::Json boards = base::Json::array();
  for (const Board& board : boards_of(spec, status)) {
    boards.push_back(
        {{"task", job::to_string(board.task)}, {"command", board.command}, {"url", board.url}});
  }
  base::Json tasks = base::Json::array();
  for (const job::TaskStatus& task : status.tasks) tasks.push_back(json_of(task));
  return {{"id", status.id},
          {"name", status.name},
          {"state", std::string(job::to_string(status.state))},
          {"submitted", status.submitted},
          {"ended", status.ended},
          {"elapsed_ms", status.elapsed_ms},
          {"generation", status.generation},
          {"restarts_used", status.restarts_used},
          {"restarts_max", status.restarts_max},
          {"waiting_for", status.waiting_for},
          {"cause", status.cause ? job::to_words(*status.cause) : std::string()},
          {"boards", std::move(boards)},
          {"tasks", std::move(tasks)}};
}

}  // namespace gangrun::page
