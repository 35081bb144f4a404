#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/json.h"
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

// Flags of `run` that not every place takes.
enum class RunFlag { kDetach, kHost, kServeTls };

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

// A flag of `run` that only one place has; its value is in RunOptions::of_place.
struct OwnFlag {
  std::string_view name;   // "--port"
  std::string_view value;  // what help has for its value
  std::string_view help;
};

// One task, for who wants to reach it. `spec` is null where its job is not kept on this machine.
struct WayInput {
  net::EventLoop& loop;
  const Context& context;
  const job::JobSpec* spec = nullptr;
  std::string job;
  job::TaskId task;
  std::uint16_t port = 0;  // of this machine; 0: any
  std::function<void(const base::Error&)> on_broken;
};

// The part that has come of what a host has kept of an ended job, and why not all; empty: all has.
struct BroughtRest {
  std::string host;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string failure{};
  std::string remark{};  // on what cannot be brought at all; empty: nothing

  static constexpr auto rows() {
    return std::tuple(
        base::row("host", &BroughtRest::host), base::row("files", &BroughtRest::files),
        base::row("bytes", &BroughtRest::bytes), base::row("failure", &BroughtRest::failure),
        base::row("remark", &BroughtRest::remark));
  }
};

// Jobs that a place knows itself, by ids of its own; all others are kept on this machine.
class OwnJobs {
 public:
  virtual ~OwnJobs() = default;
  // Whether it is such an id, or the beginning of one.
  [[nodiscard]] virtual bool has_id(std::string_view job) const = 0;
  virtual ExitStatus attach(const std::string& job, const DisplayOptions& display,
                            Context& context) const = 0;
  // The address of the job's page; empty: nobody knows.
  [[nodiscard]] virtual std::string page_url(const std::string& job,
                                             const Context& context) const = 0;
  // `fetch`: brings the outputs of a job's tasks, or of one task ("worker-0"), to folders of the
  // tasks in `folder`.
  [[nodiscard]] virtual base::Result<> fetch(const std::string& job, const std::string& task,
                                             const std::string& folder, TransferProgress& progress,
                                             Context& context) const = 0;
  // `rm`: the id of a job that has ended, else kFailedPrecondition; and the removal of all that the
  // place keeps of it.
  [[nodiscard]] virtual base::Result<std::string> ended_job(const std::string& job,
                                                            const Context& context) const = 0;
  [[nodiscard]] virtual base::Result<> remove(const std::string& job, Context& context) const = 0;
};

// A place that runs tasks, as commands see it: what it says of jobs, how it starts them, where they
// are found again, and whether it is in order. No command names one.
class Place {
 public:
  virtual ~Place() = default;
  [[nodiscard]] virtual jobfile::PlaceRules rules() const = 0;

  [[nodiscard]] virtual std::vector<OwnFlag> own_flags() const { return {}; }
  // `run`. The flags that it does not take, with the reason ("the master is elsewhere"), or none.
  [[nodiscard]] virtual std::map<RunFlag, std::string_view> refused_flags() const { return {}; }
  // The check of such a start by the place itself; kInvalidArgument names what is wrong.
  [[nodiscard]] virtual base::Result<> check(const RunOptions& /*options*/,
                                             const job::JobSpec& /*spec*/) const {
    return {};
  }
  [[nodiscard]] virtual bool has_master_here() const { return true; }
  // Starts the job, or with `dry_run` shows what would be started.
  virtual ExitStatus run(job::JobSpec spec, const RunOptions& options, Context& context) const = 0;
  // The command that shows a job which was started with --detach.
  [[nodiscard]] virtual std::string_view following_command() const { return "attach"; }
  // For a master that is a process of its own. Null: the place has none such.
  [[nodiscard]] virtual std::unique_ptr<host::Backend> backend() const { return nullptr; }

  // Whether it has a list of its jobs: what `--on` of `ps` and the like may name.
  [[nodiscard]] virtual bool lists_jobs() const { return false; }
  // The jobs of a place that lists them.
  [[nodiscard]] virtual base::Result<std::unique_ptr<cluster::Site>> site(
      const Context& context) const;
  // Null: its jobs are kept on this machine.
  [[nodiscard]] virtual const OwnJobs* own_jobs() const { return nullptr; }
  // The jobs of `home` on this machine, with those of this place that are asked otherwise.
  [[nodiscard]] virtual std::unique_ptr<cluster::Site> with_own_site(
      const std::string& /*home*/, const Context& /*context*/,
      std::unique_ptr<cluster::Site> others) const {
    return others;
  }
  [[nodiscard]] virtual base::Result<std::unique_ptr<TaskWay>> way(const WayInput& input) const;

  // `fetch`: brings what is kept elsewhere of the files of an ended job of this machine to its
  // outputs, where that was not brought at its end; `task`: as the user says, empty for all.
  [[nodiscard]] virtual base::Result<std::vector<BroughtRest>> fetch_rest(
      const job::JobSpec& /*spec*/, const host::JobPaths& /*paths*/, const std::string& /*task*/,
      TransferProgress& /*progress*/, Context& /*context*/) const {
    return std::vector<BroughtRest>();
  }
  // `rm`: takes away what is kept elsewhere of an ended job of this machine. An error tells what is
  // still there, and where.
  [[nodiscard]] virtual base::Result<> remove(const job::JobSpec& /*spec*/,
                                              const host::JobPaths& /*paths*/,
                                              Context& /*context*/) const {
    return {};
  }

  // None: it cannot be examined.
  [[nodiscard]] virtual std::optional<Doctor> doctor() const { return std::nullopt; }
};

// All that there are, in the order in which errors and help list them.
class Places {
 public:
  explicit Places(std::vector<std::unique_ptr<Place>> places);

  [[nodiscard]] const std::vector<std::unique_ptr<Place>>& all() const { return places_; }
  [[nodiscard]] const jobfile::RulesOfPlaces& rules() const { return rules_; }
  // Null where there is none of this name.
  [[nodiscard]] const Place* find(std::string_view name) const;
  // The place whose jobs have such ids; null: it is a job of this machine.
  [[nodiscard]] const Place* with_job(std::string_view job) const;
  // Those of which this is true.
  [[nodiscard]] std::vector<std::string> names(
      const std::function<bool(const Place&)>& chosen) const;
  [[nodiscard]] std::vector<std::string> names_with_jobs() const;

  // Whether the flags make sense where the job runs.
  [[nodiscard]] base::Result<> check_flags(const RunOptions& options,
                                           const job::JobSpec& spec) const;

 private:
  std::vector<std::unique_ptr<Place>> places_;
  jobfile::RulesOfPlaces rules_;
};

}  // namespace gangrun::client
