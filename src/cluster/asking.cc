#include "cluster/asking.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/json.h"

namespace gangrun::cluster {

namespace {

// The answers that have come, until the last one.
struct Collected {
  Answer answer;
  std::map<job::TaskId, std::size_t> places;  // in it, of the tasks that were asked
  std::size_t waiting = 0;
  std::size_t bytes = 0;
  OnAnswer on_answer;

  void add(const job::TaskId& task, base::Result<base::Json> said) {
    TaskAnswer& told = answer.tasks[places.at(task)];
    if (said.ok()) {
      bytes += base::dump_json(*said).size();
      if (bytes <= kMaxAnswerBytes) {
        told.said = *std::move(said);
      } else {
        told.refused = "the answers of all tasks together are too long";
      }
    } else {
      told.refused = said.error().message;
      told.is_passing = said.error().code == base::Code::kUnavailable;
    }
    if (--waiting == 0) on_answer(std::move(answer));
  }
};

}  // namespace

void ask_tasks(const Question& question, const std::vector<AskableTask>& tasks, OnAnswer on_answer,
               const std::function<void(const Question&, const OnTaskAnswer&)>& ask) {
  const auto collected = std::make_shared<Collected>();
  collected->on_answer = std::move(on_answer);
  Question to_ask = question;
  to_ask.tasks.clear();
  std::set<job::TaskId> unknown(question.tasks.begin(), question.tasks.end());
  for (const auto& [task, runs] : tasks) {
    const bool is_named = unknown.erase(task) > 0;
    if (question.tasks.empty() ? !runs : !is_named) continue;
    collected->places[task] = collected->answer.tasks.size();
    collected->answer.tasks.push_back({task, {}, runs ? "" : "it does not run"});
    if (runs) to_ask.tasks.push_back(task);
  }
  for (const job::TaskId& task : unknown) {
    collected->answer.tasks.push_back({task, {}, "the job has no such task"});
  }
  collected->waiting = to_ask.tasks.size();
  if (to_ask.tasks.empty()) return collected->on_answer(std::move(collected->answer));
  ask(to_ask, [collected](const job::TaskId& task, base::Result<base::Json> said) {
    collected->add(task, std::move(said));
  });
}

}  // namespace gangrun::cluster
