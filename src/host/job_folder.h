#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"
#include "job/spec.h"
#include "net/certificate.h"

// The files of a job of this machine: $GANGRUN_HOME/jobs/ID (docs/commands.md).
namespace gangrun::host {

// Ended jobs beyond so many are removed when a new one is made, the oldest first; those that have
// outputs stay.
inline constexpr std::size_t kMaxEndedJobs = 200;
// Written to the log folder and removed again before anything is started: what a full disk refuses.
inline constexpr std::size_t kProbeBytes = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxJobFolders = 10'000;

// The folder of all that gangrun keeps: GANGRUN_HOME, else ~/.gangrun. `variable` and `home` are
// their values, empty where not set.
base::Result<std::string> gangrun_home(const std::string& variable, const std::string& home);

// The paths in one job's folder.
struct JobPaths {
  std::string folder;

  [[nodiscard]] std::string spec() const { return folder + "/job.json"; }
  [[nodiscard]] std::string secret() const { return folder + "/secret"; }
  [[nodiscard]] std::string certificate() const { return folder + "/certificate.pem"; }
  [[nodiscard]] std::string key() const { return folder + "/key.pem"; }
  // The file in which agents on other hosts find the job's master, whichever it is.
  [[nodiscard]] std::string tls_port() const { return folder + "/tls.port"; }
  [[nodiscard]] std::string socket() const { return folder + "/master.sock"; }
  // The socket at which the starter of the agents waits for the next master (process/starter.h).
  [[nodiscard]] std::string starter_socket() const { return folder + "/agents.sock"; }
  [[nodiscard]] std::string lock() const { return folder + "/master.lock"; }
  // A detached job has these four until it has ended: how it is started, with which environment,
  // what the files hold that it names for ZooKeeper (some do), and the
  // lock of the supervisor that starts its masters.
  [[nodiscard]] std::string launch() const { return folder + "/launch.json"; }
  [[nodiscard]] std::string environment() const { return folder + "/environment"; }
  [[nodiscard]] std::string zookeeper() const { return folder + "/zookeeper.json"; }
  [[nodiscard]] std::string supervisor_lock() const { return folder + "/supervisor.lock"; }
  [[nodiscard]] std::string master_log() const { return folder + "/master.log"; }
  [[nodiscard]] std::string journal() const { return folder + "/journal"; }
  [[nodiscard]] std::string logs() const { return folder + "/logs"; }
  // The results of tasks, each in a file "TYPE-INDEX".
  [[nodiscard]] std::string results() const { return folder + "/results"; }
  [[nodiscard]] std::string keys() const { return folder + "/keys"; }
  // A record of what other hosts have of the job, or may have (ssh/host_records.h).
  [[nodiscard]] std::string hosts() const { return folder + "/hosts.json"; }
  // The files of tasks on other machines that were brought, each in a folder "TYPE-INDEX", or in
  // one that is called as their host.
  [[nodiscard]] std::string outputs() const { return folder + "/outputs"; }
};

// A job's folder in the hands of its master. The lock is held as long as this lives, also when the
// process is killed: by it others see that the job has a master.
class JobFolder {
 public:
  // Makes the folder with everything in it and locks it. One clear error for a folder that cannot
  // be written, a full disk, no right; nothing is left then.
  static base::Result<JobFolder> create(const std::string& home, const job::JobSpec& spec,
                                        base::WallTime now);

  // The folder of a job for another master of it. kUnavailable if the job still has one at
  // `deadline`.
  static base::Result<JobFolder> open(const std::string& folder, base::Instant deadline);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const JobPaths& paths() const { return paths_; }
  [[nodiscard]] const base::Secret& secret() const { return secret_; }
  // Made for this job when it was submitted, for a master that serves other hosts too.
  [[nodiscard]] const net::JobCertificate& certificate() const { return certificate_; }

  // Takes the folder away again: for a job that could not start.
  void remove() const;
  // Whether somebody has removed it.
  [[nodiscard]] bool is_gone() const;
  // Lets another master have the job.
  void release() { lock_.reset(); }

 private:
  JobFolder() = default;

  std::string id_;
  JobPaths paths_;
  base::Secret secret_;
  net::JobCertificate certificate_;
  base::UniqueFd lock_;
};

// The most bytes that a certificate, a label of Kubernetes and a name of DNS can have: an id is a
// part of all.
inline constexpr std::size_t kMaxJobIdBytes = 63;

// "wine-20260131-120000-3fa1": name, time (UTC; after the last dash milliseconds in
// three hexadecimal digits) and a random digit. Later jobs sort after earlier ones. Of a long name
// it has the beginning, so that an id is never longer than kMaxJobIdBytes.
std::string make_job_id(std::string_view name, base::WallTime now, unsigned random);

// When the job with this id was submitted: ISO 8601, UTC.
std::string submitted_of(std::string_view id);

// An error about what a job's folder holds, for whoever asks for the job: the input is not bad, the
// job is known, and nobody has waited or given up.
base::Error as_damage(base::Error error);

// The ids of all jobs under `home`, the newest first.
base::Result<std::vector<std::string>> job_ids(const std::string& home);

// The one id that `text` means: an id, the beginning of only one, a name of which only one has the
// beginning, or "last".
base::Result<std::string> resolve_job(const std::vector<std::string>& newest_first,
                                      std::string_view text);

// Takes away what only a job that has not ended needs, its keys too: its verdict is recorded, or
// nobody can lead it any more. Doing it again is harmless.
void clear_ended_job(const JobPaths& paths);
// Takes the folder of a job away. kFailedPrecondition where somebody leads it.
base::Result<> remove_ended_job(const JobPaths& paths);

JobPaths paths_of(const std::string& home, std::string_view id);
// Whether the job's master lives.
bool has_master(const JobPaths& paths);
// Whether somebody lives who will start another master.
bool has_supervisor(const JobPaths& paths);
// The lock by which has_supervisor() knows; kUnavailable if another has it.
base::Result<base::UniqueFd> lock_as_supervisor(const JobPaths& paths);
// Errors of as_damage().
base::Result<base::Secret> read_secret(const JobPaths& paths);

}  // namespace gangrun::host
