// How long a new master needs until it has the state of a job: reads and replays a journal of
// 100,000 events. Prints the time beside the limit and fails over it.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/format.h"
#include "journal/reader.h"
#include "journal/replay.h"
#include "journal/writer.h"

namespace {

using namespace gangrun;  // NOLINT(google-build-using-namespace): a program of one file
using std::chrono::milliseconds;

constexpr int kTasks = 1000;
constexpr int kAttempts = 25;  // of each task, with four events each
constexpr milliseconds kLimit{1000};

job::JobSpec spec() {
  job::JobSpec spec;
  spec.name = "replayed";
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = kTasks;
  worker.command.shell_line = "python train.py";
  spec.tasks.push_back(worker);
  spec.success = "all";
  spec.restarts = {0, job::RestartScope::kTask};
  return spec;
}

// Tasks that lose their hosts and come back.
base::Result<> write(const std::string& folder, base::Instant now, base::WallTime wall_now) {
  journal::Opening opening;
  opening.job_id = "replayed-1";
  opening.started = wall_now;
  opening.origin = now;
  GANGRUN_ASSIGN(const auto writer, journal::Writer::create(folder, opening));
  GANGRUN_TRY(writer->append(journal::SpecRecord{spec()}));
  GANGRUN_TRY(writer->event(gang::Begin{}, now));
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    for (int index = 0; index < kTasks; ++index) {
      const job::TaskId task{"worker", index};
      const auto port = static_cast<std::uint16_t>(30'000 + index);
      GANGRUN_TRY(writer->event(gang::Allocated{task, attempt, "host"}, now));
      GANGRUN_TRY(writer->event(gang::Reported{task, attempt, {"host", port}}, now));
    }
    for (int index = 0; index < kTasks; ++index) {
      const job::TaskId task{"worker", index};
      GANGRUN_TRY(writer->event(gang::Started{task, attempt}, now));
      GANGRUN_TRY(writer->event(
          job::AgentEnded{
              task, attempt, {.reason = job::Reason::kLostNode, .detail = "lost its host"}, now},
          now));
    }
  }
  return {};
}

base::Result<bool> measure(const std::string& folder) {
  const base::SystemClock clock;
  GANGRUN_TRY(write(folder, clock.now(), clock.wall_now()));
  const base::Instant start = clock.now();
  GANGRUN_ASSIGN(const auto journal, journal::read_journal(folder));
  const base::Instant read = clock.now();
  gang::Gang::Limits limits;
  limits.max_uncounted_restarts = kTasks * kAttempts;
  GANGRUN_ASSIGN(const auto replayed,
                 journal::replay(journal, limits, clock.now(), clock.wall_now()));
  const base::Instant done = clock.now();
  const auto ms = [](base::Duration time) {
    return std::chrono::duration_cast<milliseconds>(time).count();
  };
  std::puts(
      base::format("{} records: read in {} ms, replayed in {} ms (the job is {}), limit {} ms",
                   journal.segments[0].records.size(), ms(read - start), ms(done - read),
                   job::to_string(replayed.gang.state()), kLimit.count())
          .c_str());
  return done - start <= kLimit;
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "gangrun-replay-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return EXIT_FAILURE;
  const auto within = measure(folder);
  std::filesystem::remove_all(folder);
  if (!within.ok()) std::fputs((within.error().message + "\n").c_str(), stderr);
  return within.ok() && *within ? EXIT_SUCCESS : EXIT_FAILURE;
}
