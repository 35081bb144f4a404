#include "host/job_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/letters.h"
#include "base/random.h"
#include "base/strings.h"
#include "job/units.h"
#include "jobfile/plan_json.h"
#include "process/wait_for.h"

namespace gangrun::host {

namespace {

using base::Result;

// Another id is made when another job has taken it in the same second.
constexpr int kMaxIdTries = 100;
constexpr std::chrono::hours kCertificateValidity(24 * 366);
// So often another command may be in the way of a removal: each time it has removed something.
constexpr int kMaxRemovals = 1000;
constexpr std::size_t kMaxSecretBytes = 4096;
constexpr std::size_t kMaxCertificateBytes = 65536;
// How often a lock that another process holds is tried again: its release tells nobody.
constexpr base::milliseconds kLockInterval(5);
constexpr std::size_t kTimeAndDigits = sizeof("-20260131-120000-3fa1") - 1;
constexpr std::size_t kMaxNameInId = kMaxJobIdBytes - kTimeAndDigits;

std::string jobs_folder(const std::string& home) { return home + "/jobs"; }

// The part of an id that sorts by time.
std::string_view time_of(std::string_view id) {
  return id.size() < kTimeAndDigits ? id : id.substr(id.size() - kTimeAndDigits);
}

bool is_job_id(std::string_view id) {
  if (id.size() <= kTimeAndDigits) return false;
  const std::string_view end = time_of(id);
  for (std::size_t i = 0; i < end.size(); ++i) {
    const bool dash = i == 0 || i == 9 || i == 16;
    if (dash ? end[i] != '-' : !base::is_small_hex_digit(end[i])) return false;
  }
  return true;
}

// The part of the job's name that an id has.
std::string_view name_in_id(std::string_view name) {
  if (name.size() <= kMaxNameInId) return name;
  name = name.substr(0, kMaxNameInId);
  const std::size_t last = name.find_last_not_of("-._");
  return last == std::string_view::npos ? name : name.substr(0, last + 1);
}

// kUnavailable where another process has it.
Result<base::UniqueFd> lock_file(const std::string& path) {
  GANGRUN_ASSIGN(base::UniqueFd fd, base::open_file(path, O_RDWR | O_CREAT, 0600));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  // Belongs to the open file and not to the process, so that closing another descriptor of the same
  // file does not give it up.
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return fd;
  if (errno == EAGAIN || errno == EACCES) {
    return base::unavailable(base::format("{} is held by another process", path));
  }
  return base::from_errno(errno, base::format("cannot lock {}", path));
}

// Only asks: a lock that was taken to find out would be in its next holder's way.
bool is_locked(const std::string& path) {
  const auto fd = base::open_file(path, O_RDWR);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fd.ok() && ::fcntl(fd->get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// A full disk and a missing right show here, before anything is started.
Result<> probe(const std::string& folder) {
  const std::string path = folder + "/probe";
  const std::string content(kProbeBytes, '\n');
  Result<> written = base::write_private_file(path, content);
  ::unlink(path.c_str());
  return written;
}

void remove_folder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

// Nobody has the only copy of what tasks have written but the job, or its hosts.
bool has_outputs(const JobPaths& paths) {
  std::error_code failed;
  return std::filesystem::exists(paths.hosts(), failed) ||
         (std::filesystem::is_directory(paths.outputs(), failed) &&
          !std::filesystem::is_empty(paths.outputs(), failed));
}

void remove_old_jobs(const std::string& home) {
  const auto ids = job_ids(home);
  if (!ids.ok()) return;
  std::size_t ended = 0;
  for (const std::string& id : *ids) {
    const JobPaths paths = paths_of(home, id);
    // One whose master has just died is about to have another.
    if (has_master(paths) || has_supervisor(paths)) continue;
    if (++ended > kMaxEndedJobs && !has_outputs(paths)) remove_folder(paths.folder);
  }
}

// The error as a user who started a job should read it.
base::Error in_words(const base::Error& error, const std::string& home) {
  std::string_view advice;
  switch (error.code) {
    case base::Code::kResourceExhausted:
      advice = "; free some space there or set GANGRUN_HOME to a folder with space";
      break;
    case base::Code::kPermissionDenied:
    case base::Code::kNotFound:
    case base::Code::kAlreadyExists:
    case base::Code::kInvalidArgument:  // a file where a folder should be, or an invalid path
      advice = "; set GANGRUN_HOME to a folder that you can write";
      break;
    default: break;  // no other folder would help
  }
  return {error.code, base::format("the job's folder under {} cannot be created: {}{}", home,
                                   error.message, advice)};
}

Result<std::string> make_unique_folder(const std::string& home, const std::string& name,
                                       base::WallTime now) {
  const std::string jobs = jobs_folder(home);
  GANGRUN_TRY(base::make_folders(jobs, 0700));
  for (int i = 0; i < kMaxIdTries; ++i) {
    std::string id = make_job_id(name, now, base::random_number<unsigned>());
    const std::string folder = base::format("{}/{}", jobs, id);
    if (::mkdir(folder.c_str(), 0700) == 0) return id;
    if (errno != EEXIST) return base::from_errno(errno, base::format("cannot create {}", folder));
  }
  return base::internal(base::format("{} names for the job's folder are taken", kMaxIdTries));
}

Result<net::JobCertificate> read_certificate(const JobPaths& paths) {
  net::JobCertificate certificate;
  GANGRUN_ASSIGN(certificate.certificate_pem,
                 base::read_file(paths.certificate(), kMaxCertificateBytes));
  GANGRUN_ASSIGN(std::string key, base::read_file(paths.key(), kMaxCertificateBytes));
  certificate.key_pem = base::Secret(std::move(key));
  GANGRUN_ASSIGN(certificate.fingerprint, net::fingerprint_of(certificate.certificate_pem));
  return certificate;
}

Result<> fill(const JobPaths& paths, const base::Secret& secret,
              const net::JobCertificate& certificate, const job::JobSpec& spec) {
  for (const std::string& folder : {paths.journal(), paths.logs()}) {
    GANGRUN_TRY(base::make_folders(folder, 0700));
  }
  GANGRUN_TRY(probe(paths.logs()));
  GANGRUN_TRY(base::write_private_file(paths.secret(), secret.reveal()));
  GANGRUN_TRY(base::write_private_file(paths.certificate(), certificate.certificate_pem));
  GANGRUN_TRY(base::write_private_file(paths.key(), certificate.key_pem.reveal()));
  const std::string text = base::dump_json_indented(jobfile::to_json(spec)) + "\n";
  return base::write_file_atomically(paths.spec(), text, 0600);
}

}  // namespace

Result<std::string> gangrun_home(const std::string& variable, const std::string& home) {
  std::string chosen = variable;
  if (chosen.empty()) {
    if (home.empty()) {
      return base::invalid_argument(
          "neither GANGRUN_HOME nor HOME is set; one of them says where jobs are kept");
    }
    chosen = home + "/.gangrun";
  }
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(chosen, failed);
  if (failed) {
    return base::invalid_argument(base::format("GANGRUN_HOME={} cannot be used: {}",
                                               job::in_quotes(chosen), failed.message()));
  }
  std::string path = absolute.lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string make_job_id(std::string_view name, base::WallTime now, unsigned random) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return base::format("{}-{:04}{:02}{:02}-{:02}{:02}{:02}-{:03x}{:x}", name_in_id(name),
                      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                      parts.tm_min, parts.tm_sec, since_epoch.count() % 1000, random & 0xFU);
}

std::string submitted_of(std::string_view id) {
  const std::string_view time = time_of(id);
  if (!is_job_id(id)) return {};
  const auto part = [time](std::size_t at, std::size_t length) { return time.substr(at, length); };
  const int milliseconds = std::stoi(std::string(part(17, 3)), nullptr, 16);
  return base::format("{}-{}-{}T{}:{}:{}.{:03}Z", part(1, 4), part(5, 2), part(7, 2), part(10, 2),
                      part(12, 2), part(14, 2), milliseconds % 1000);
}

base::Error as_damage(base::Error error) {
  switch (error.code) {
    case base::Code::kInvalidArgument:
    case base::Code::kNotFound:
    case base::Code::kDeadlineExceeded:
    case base::Code::kCancelled: error.code = base::Code::kDataLoss; break;
    default: break;
  }
  return error;
}

JobPaths paths_of(const std::string& home, std::string_view id) {
  return {base::format("{}/{}", jobs_folder(home), id)};
}

bool has_master(const JobPaths& paths) { return is_locked(paths.lock()); }

bool has_supervisor(const JobPaths& paths) { return is_locked(paths.supervisor_lock()); }

Result<base::UniqueFd> lock_as_supervisor(const JobPaths& paths) {
  auto lock = lock_file(paths.supervisor_lock());
  if (lock.ok() || lock.error().code != base::Code::kUnavailable) return lock;
  return base::unavailable(base::format("{} has a supervisor already", paths.folder));
}

Result<base::Secret> read_secret(const JobPaths& paths) {
  auto text = base::read_file(paths.secret(), kMaxSecretBytes);
  if (!text.ok()) return as_damage(std::move(text).error());
  return base::Secret(*std::move(text));
}

Result<std::vector<std::string>> job_ids(const std::string& home) {
  const std::string path = jobs_folder(home);
  const base::Folder folder = base::open_folder(path);
  if (!folder) {
    if (errno == ENOENT) return std::vector<std::string>{};
    return base::from_errno(errno, base::format("cannot read {}", path));
  }
  std::vector<std::string> ids;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream that no other thread has
  while (const dirent* entry = ::readdir(folder.get())) {
    if (is_job_id(entry->d_name) && ids.size() < kMaxJobFolders) ids.emplace_back(entry->d_name);
  }
  std::sort(ids.begin(), ids.end(), [](const std::string& a, const std::string& b) {
    return std::pair(time_of(a), std::string_view(a)) > std::pair(time_of(b), std::string_view(b));
  });
  return ids;
}

Result<std::string> resolve_job(const std::vector<std::string>& newest_first,
                                std::string_view text) {
  if (newest_first.empty()) return base::not_found("there is no job yet");
  if (text == "last") return newest_first.front();
  std::vector<std::string> fitting;
  std::string_view how = "is the beginning of";
  for (const std::string& id : newest_first) {
    if (id == text) return id;
    if (!text.empty() && id.starts_with(text)) fitting.push_back(id);
  }
  // An id has only the beginning of a long name.
  const std::string_view name = name_in_id(text);
  std::vector<std::string> named;
  std::copy_if(newest_first.begin(), newest_first.end(), std::back_inserter(named),
               [&](std::string_view id) {
                 return is_job_id(id) && id.substr(0, id.size() - kTimeAndDigits) == name;
               });
  // A whole name is meant before the beginning of others.
  if (fitting.empty() || (!named.empty() && named.size() < fitting.size())) {
    how = "is the name of";
    fitting = std::move(named);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    return base::not_found(
        base::format("there is no job {}; gangrun ps lists them", job::in_quotes(text)));
  }
  constexpr std::size_t kShown = 3;
  const std::size_t shown = std::min(fitting.size(), kShown);
  const std::vector<std::string> first(fitting.begin(),
                                       fitting.begin() + static_cast<std::ptrdiff_t>(shown));
  return base::not_found(base::format("{} {} {} jobs: {}{}", job::in_quotes(text), how,
                                      fitting.size(), base::join(first, ", "),
                                      shown < fitting.size() ? ", …" : ""));
}

Result<JobFolder> JobFolder::create(const std::string& home, const job::JobSpec& spec,
                                    base::WallTime now) {
  remove_old_jobs(home);
  auto id = make_unique_folder(home, spec.name, now);
  if (!id.ok()) return in_words(id.error(), home);
  JobFolder folder;
  folder.id_ = std::move(*id);
  folder.paths_ = paths_of(home, folder.id_);
  folder.secret_ = base::Secret::generate();
  auto certificate = net::make_job_certificate(folder.id_, kCertificateValidity);
  if (!certificate.ok()) {
    folder.remove();
    return certificate.error();
  }
  folder.certificate_ = *std::move(certificate);
  auto lock = lock_file(folder.paths_.lock());
  const Result<> filled = lock.ok() ? fill(folder.paths_, folder.secret_, folder.certificate_, spec)
                                    : Result<>(lock.error());
  if (lock.ok()) folder.lock_ = *std::move(lock);
  if (!filled.ok()) {
    folder.remove();
    return in_words(filled.error(), home);
  }
  return folder;
}

Result<JobFolder> JobFolder::open(const std::string& folder, base::Instant deadline) {
  JobFolder opened;
  opened.paths_ = {folder};
  opened.id_ = std::filesystem::path(folder).filename().string();
  while (true) {
    auto lock = lock_file(opened.paths_.lock());
    if (lock.ok()) {
      opened.lock_ = *std::move(lock);
      break;
    }
    if (lock.error().code != base::Code::kUnavailable) return lock.error();
    const base::Instant now = std::chrono::steady_clock::now();
    if (now >= deadline) {
      return base::unavailable(base::format("{} has a master already", opened.id_));
    }
    (void)process::wait_any_readable({}, std::min(deadline, now + kLockInterval));
  }
  // The lock is ours, so nobody listens on what a killed master left.
  if (::unlink(opened.paths_.socket().c_str()) != 0 && errno != ENOENT) {
    return base::from_errno(errno, opened.paths_.socket());
  }
  GANGRUN_ASSIGN(opened.secret_, read_secret(opened.paths_));
  GANGRUN_ASSIGN(opened.certificate_, read_certificate(opened.paths_));
  return opened;
}

bool JobFolder::is_gone() const {
  struct stat info {};
  return lock_.valid() && ::fstat(lock_.get(), &info) == 0 && info.st_nlink == 0;
}

void JobFolder::remove() const { remove_folder(paths_.folder); }

void clear_ended_job(const JobPaths& paths) {
  for (const std::string& path : {paths.environment(), paths.launch(), paths.zookeeper()}) {
    (void)::unlink(path.c_str());
  }
  remove_folder(paths.keys());
}

Result<> remove_ended_job(const JobPaths& paths) {
  if (has_master(paths) || has_supervisor(paths)) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{}: the job has not ended", paths.folder)};
  }
  std::error_code failed;
  for (int i = 0; i < kMaxRemovals; ++i) {
    std::filesystem::remove_all(paths.folder, failed);
    // Another command removes it, too, or has just taken its lock there.
    const bool is_shared =
        failed == std::errc::no_such_file_or_directory || failed == std::errc::directory_not_empty;
    if (!is_shared) break;
  }
  if (failed) return base::from_errno(failed.value(), base::format("remove {}", paths.folder));
  return {};
}

}  // namespace gangrun::host
