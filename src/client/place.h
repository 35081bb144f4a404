#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "client/command.h"
#include "client/context.h"
#include "client/run_options.h"
#include "client/task_way.h"
#include "client/transfer_progress.h"
#include "cluster/check.h"
#include "cluster/site.h"
#include "host/backend.h"
#include "host/job_folder.h"
#include "jobfile/place_rules.h"
#include "net/event_loop.h"

namespace gangrun::client {

struct Examination {
  std::vector<cluster::Check> checks;
  bool is_whole = true;  // false: Ctrl-C ended it
};

// The examination of a place.
struct Doctor {
  std::string_view examined;   // what is checked, in words: "this machine"
  std::string_view subject{};  // what the flags apply to: "hosts"
  std::string_view example{};  // of the flags
  std::vector<Flag> flags{};   // that tell what to check
  std::function<base::Result<Examination>(Context&)> examine;  // owns what they are read into
};

// A flag of `run` that not every place has; what is given is in RunOptions::of_place, or for a
// switch in switches_of_place. Places that share one have the same row.
struct OwnFlag {
  std::string_view name;   // "--port"
  std::string_view value;  // what help has for its value; a switch has none
  std::string_view help;
};

// One task, for who wants to reach it.
struct WayInput {
  net::EventLoop& loop;
  const Context& context;
  std::string job;
  job::TaskId task;
  std::uint16_t port = 0;  // of this machine; 0: any
  std::function<void(const base::Error&)> on_broken;
  const job::JobSpec* spec = nullptr;  // null: its job is not kept on this machine
};

// The part that has come of what a host has kept of an ended job, and why not all; empty: all has.
struct BroughtRest {
  std::string host;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string failure{};
  std::string remark{};  // on what cannot be brought at all; empty: nothing

  GANGRUN_ROWS(BroughtRest, host, files, bytes, failure, remark);
};

// How a place starts a job.
struct JobStart {
  // Starts the job, or with `dry_run` shows what would be started.
  std::function<ExitStatus(job::JobSpec spec, const RunOptions& options, Context& context)> run;
  // For a master that is a process of its own. Null: the place has none such.
  std::function<std::unique_ptr<host::Backend>()> backend{};
  bool has_master_here = true;
  std::vector<OwnFlag> own_flags{};
  // The reason why it has no hosting_flags() ("the master is elsewhere"); empty: it has them.
  std::string_view why_no_hosting_flags{};
  // The reason why it refuses --detach; empty: it takes it.
  std::string_view why_no_detach{};
  // The check of such a start by the place itself; kInvalidArgument names what is wrong. Null:
  // there is nothing to check.
  std::function<base::Result<>(const RunOptions& options, const job::JobSpec& spec)> check{};
  // A better error where a flag of the place means something else to the user, or the same one,
  // wherever the job would run. Null: there is no such flag.
  std::function<base::Error(const base::Error& error, const RunOptions& options)> explain{};
};

// A job as the commands name it to its place: by its id alone where the place keeps its jobs
// itself, else with what this machine keeps of it.
struct KeptJob {
  std::string id;
  const job::JobSpec* spec = nullptr;
  const host::JobPaths* paths = nullptr;
};

// An order of `fetch` to bring the outputs of all tasks, or of one as the user names it.
struct FetchOrder {
  KeptJob job;
  std::string task;    // empty: all
  std::string folder;  // for a folder of each task
  TransferProgress& progress;
};

// The jobs of a place once they have started. Most are kept on this machine, and asked by their
// master or agents there: for these the defaults are right.
class Jobs {
 public:
  virtual ~Jobs() = default;
  // Whether it is the id, or the beginning of one, of a job that the place keeps itself.
  [[nodiscard]] virtual bool has_id(std::string_view /*job*/, const Context& /*context*/) const {
    return false;
  }
  // Whether the place lists its jobs: what `--on` of `ps` and the like may name; and that list.
  [[nodiscard]] virtual bool are_listed() const { return false; }
  [[nodiscard]] virtual base::Result<std::unique_ptr<cluster::Site>> site(
      const Context& context) const;
  // The jobs of `home` on this machine, with those of this place that are asked otherwise.
  [[nodiscard]] virtual std::unique_ptr<cluster::Site> with_own(
      const std::string& /*home*/, const Context& /*context*/,
      std::unique_ptr<cluster::Site> others) const {
    return others;
  }
  [[nodiscard]] virtual base::Result<std::unique_ptr<TaskWay>> way(const WayInput& input) const;
  // `fetch`: brings what is kept elsewhere of the files of a job that has ended.
  [[nodiscard]] virtual base::Result<std::vector<BroughtRest>> fetch(const FetchOrder& /*request*/,
                                                                     Context& /*context*/) const {
    return std::vector<BroughtRest>();
  }
  // `rm`: takes away what is kept elsewhere of a job that has ended. An error tells what is still
  // there, and where.
  [[nodiscard]] virtual base::Result<> remove(const KeptJob& /*job*/, Context& /*context*/) const {
    return {};
  }

  // Only of jobs that the place keeps itself.
  virtual ExitStatus attach(const std::string& job, const DisplayOptions& display,
                            Context& context) const;
  // The address of the job's page; empty: nobody knows.
  [[nodiscard]] virtual std::string page_url(const std::string& /*job*/,
                                             const Context& /*context*/) const {
    return {};
  }
  // The id of a job that has ended, else kFailedPrecondition.
  [[nodiscard]] virtual base::Result<std::string> ended_job(const std::string& job,
                                                            const Context& context) const;
};

// A place that runs tasks, as commands see it. No command names one.
struct Place {
  jobfile::PlaceRules rules;
  JobStart launch;
  std::shared_ptr<const Jobs> jobs = std::make_shared<const Jobs>();
  // Null: it cannot be examined.
  std::function<Doctor()> doctor{};
};

// The way to a task, by the place of its job, which `input` need not know.
base::Result<std::unique_ptr<TaskWay>> way_to_task(WayInput input);

// All that there are, in the order in which errors and help list them.
class Places {
 public:
  explicit Places(std::vector<Place> places);

  [[nodiscard]] const std::vector<Place>& all() const { return places_; }
  [[nodiscard]] const jobfile::RulesOfPlaces& rules() const { return rules_; }
  // Null where there is none of this name.
  [[nodiscard]] const Place* find(std::string_view name) const;
  // The place that keeps such a job itself; null: it is a job of this machine.
  [[nodiscard]] const Place* with_job(std::string_view job, const Context& context) const;
  // Those of which this is true.
  [[nodiscard]] std::vector<std::string> names(
      const std::function<bool(const Place&)>& chosen) const;
  [[nodiscard]] std::vector<std::string> names_with_jobs() const;

  // The own flags of all, each once, in the order of their names.
  [[nodiscard]] std::vector<Flag> own_flags(RunOptions& options) const;
  // Whether the flags make sense where the job runs.
  [[nodiscard]] base::Result<> check_flags(const RunOptions& options,
                                           const job::JobSpec& spec) const;

 private:
  std::vector<Place> places_;
  jobfile::RulesOfPlaces rules_;
};

}  // namespace gangrun::client
