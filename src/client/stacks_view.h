#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/question.h"
#include "job/task_id.h"

namespace gangrun::client {

// Processes of several tasks that do the same.
struct SameStack {
  std::string process;               // its name, and what has read its stack if not py-spy
  std::string stack;                 // without what differs from process to process
  std::vector<job::TaskId> tasks{};  // each once
  std::set<std::string> states{};    // in words: "sleeps"; none where nobody could look
  // The least and the most that one of the processes has used.
  double least_cpu_seconds = 0;
  double most_cpu_seconds = 0;
};

// The stacks that are seen of a job's tasks, the odd ones first: a stack of few tasks stands before
// one of many. Those of equally many are in the order of the tasks.
std::vector<SameStack> same_stacks(const cluster::Answer& answer);

// "worker:0-6,8"
std::string task_ranges(const std::vector<job::TaskId>& tasks);

// For people: each stack once, with its tasks; at the end who could not be looked at, and why, who
// has more processes than are shown, and whether Python's stacks need py-spy.
std::string stacks_text(const cluster::Answer& answer);
// {"tasks": [{"task": "worker:0", "processes": […]}, {"task": "worker:1", "trouble": "…"}]}; a task
// with more processes has their number as "not_shown".
base::Json stacks_json(const cluster::Answer& answer);

}  // namespace gangrun::client
