#pragma once

#include <vector>

#include "gang/event.h"
#include "journal/record.h"

// For the tests of this room: one of everything that a journal can hold.
namespace gangrun::journal {

inline job::JobSpec sample_spec() {
  job::JobSpec spec;
  spec.name = "wine";
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = 2;
  worker.command.shell_line = "python train.py";
  spec.tasks.push_back(worker);
  spec.success = "all";
  return spec;
}

inline job::JobStatus sample_status(job::JobState state, int tasks = 2) {
  job::JobStatus status;
  status.id = "wine-1";
  status.name = "wine";
  status.state = state;
  status.submitted = "2026-01-31T12:00:00.000Z";
  for (int i = 0; i < tasks; ++i) {
    job::TaskStatus task;
    task.task = {"worker", i};
    task.address = "host1:40001";
    task.last_line = "step 7, loss 0.25 \u2713";
    status.tasks.push_back(task);
  }
  if (state == job::JobState::kFailed) {
    status.cause = job::Cause{.task = job::TaskId{"worker", 1},
                              .host = "host1",
                              .why = {.reason = job::Reason::kExitStatus, .code = 3},
                              .last_lines = {"Traceback", "ValueError: no"},
                              .traceback = "ValueError: no"};
  }
  return status;
}

inline std::vector<gang::Event> sample_events() {
  const job::TaskId task{"worker", 1};
  job::ExitReport report;
  report.why.reason = job::Reason::kExitStatus;
  report.why.code = 3;
  report.last_lines = {"one", "two \"quoted\"\\"};
  report.traceback = "Traceback (most recent call last):\n  …";
  const base::Instant at{base::Duration(12'345'678'901)};
  return {gang::Begin{},
          gang::ClusterWaiting{"the queue is full"},
          gang::Allocated{task, 1, "host1"},
          gang::Reported{task, 1, {"host1", 40'001}},
          gang::Started{task, 1},
          job::Exited{task, 1, report, at},
          gang::SessionLost{task, 2},
          gang::Reattached{task, 2},
          job::AgentEnded{task, 2, {.reason = job::Reason::kEvicted, .detail = "was evicted"}, at},
          gang::Progress{task, 2},
          gang::StopRequested{"Ctrl-C", true},
          gang::ClusterGone{"it is gone"},
          gang::TimePassed{},
          gang::Resumed{},
          gang::HostSilent{"host1", {task, {"ps", 0}}}};
}

inline std::vector<Record> sample_records() {
  job::ClusterSpec cluster_spec;
  cluster_spec.generation = 1;
  cluster_spec.tasks["worker"] = {{"host1", 40'000}, {"host1", 40'001}};
  std::vector<Record> records = {SpecRecord{sample_spec()}};
  std::int64_t offset = 0;
  for (const gang::Event& event : sample_events()) {
    records.emplace_back(EventRecord{event, base::Duration(offset += 1'000'001)});
  }
  records.emplace_back(
      PlaceRecord{job::TaskId{"worker", 1}, 1, base::Json{{"pid", 4711}, {"started", 99}}});
  records.emplace_back(GenerationRecord{cluster_spec});
  records.emplace_back(StatusRecord{sample_status(job::JobState::kRunning)});
  records.emplace_back(VerdictRecord{sample_status(job::JobState::kFailed)});
  return records;
}

}  // namespace gangrun::journal
