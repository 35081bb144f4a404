#include "kubernetes/pods/pod_outputs.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "job/units.h"

namespace gangrun::kubernetes::pods {

namespace {

// After so many bytes the disk is checked again.
constexpr std::uint64_t kLook = std::uint64_t{4} << 20U;

std::string size_words(std::uint64_t bytes) {
  return job::memory_text(static_cast<std::int64_t>(bytes >> 20U));
}

constexpr std::size_t kMaxErrors = std::size_t{16} * 1024;
// A program that has more to say than that has no end.
constexpr std::size_t kMaxErrorsRead = std::size_t{1} << 20U;
constexpr int kThreads = 2;

// The words after the folder are the requested paths; those that are there take their place.
constexpr const char* kScript =
    "cd \"$0\" || exit 9; n=$#; for p do if [ -e \"$p\" ] || [ -L \"$p\" ]; then set -- \"$@\" "
    "\"$p\"; else echo \"gangrun-missing:$p\" >&2; fi; done; shift $n; [ $# -eq 0 ] || exec tar "
    "-cf - -- \"$@\"";

std::string folder_name(const job::TaskId& task) {
  return base::format("{}-{}", task.type, task.index);
}

// On a worker thread.
base::Result<std::string> unpack_into(const Unpack& unpack, const std::string& archive,
                                      bool is_empty, const std::string& folder) {
  std::error_code failed;
  std::filesystem::remove_all(folder, failed);
  GANGRUN_TRY(base::make_folders(folder, 0755));
  base::Result<std::string> left_out = std::string();
  if (!is_empty) left_out = unpack(archive, folder);
  std::filesystem::remove(archive, failed);
  return left_out;
}

}  // namespace

OutputsArchive::OutputsArchive(std::string path, Limits limits)
    : path_(std::move(path)), limits_(std::move(limits)) {}

OutputsArchive::~OutputsArchive() {
  if (!file_.valid()) return;
  std::error_code failed;
  std::filesystem::remove(path_, failed);
}

base::Result<> OutputsArchive::begin() {
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file_.valid()) return base::from_errno(errno, path_);
  return has_room(0);
}

base::Result<> OutputsArchive::put(std::string_view piece) {
  bytes_ += piece.size();
  if (limits_.bytes && bytes_ > *limits_.bytes) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("over outputs_limit ({})", size_words(*limits_.bytes))};
  }
  if (bytes_ - looked_at_ >= kLook) {
    looked_at_ = bytes_;
    GANGRUN_TRY(has_room(piece.size()));
  }
  return base::write_all(file_.get(), piece, path_);
}

base::Result<> OutputsArchive::end() { return has_room(bytes_); }

base::Result<> OutputsArchive::has_room(std::uint64_t bytes) const {
  GANGRUN_ASSIGN(const cluster::DiskRoom room, limits_.room());
  if (room.free >= cluster::kept_free(room) + bytes) return {};
  return base::Error{
      base::Code::kResourceExhausted,
      base::format("{} of them leave less than {} free on the disk of {}", base::size_text(bytes_),
                   base::size_text(cluster::kept_free(room)),
                   std::filesystem::path(path_).parent_path().string())};
}

std::vector<std::string> outputs_command(const std::string& folder,
                                         const std::vector<std::string>& paths) {
  std::vector<std::string> command = {"sh", "-c", kScript, folder};
  command.insert(command.end(), paths.begin(), paths.end());
  return command;
}

OutputsErrors outputs_errors(std::string_view text) {
  OutputsErrors errors;
  for (const std::string& line : base::split(text, '\n')) {
    if (line.starts_with(kMissingMark)) {
      errors.missing.push_back(line.substr(kMissingMark.size()));
    } else if (!line.empty()) {
      errors.others += (errors.others.empty() ? "" : "; ") + line;
    }
  }
  return errors;
}

base::Result<> check_outputs(int status, const OutputsErrors& errors, bool is_empty,
                             std::size_t asked) {
  if (status != 0) {
    return base::Error{
        base::Code::kDataLoss,
        base::format("tar in the pod ended with status {}{}", status,
                     errors.others.empty() ? "" : ": " + base::their_words(errors.others))};
  }
  if (is_empty && errors.missing.size() < asked) {
    return base::Error{base::Code::kDataLoss,
                       "tar in the pod ended with status 0 and sent nothing"};
  }
  return {};
}

PodOutputs::PodOutputs(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
                       std::string folder, Unpack unpack, Callbacks callbacks)
    : loop_(loop),
      posts_(loop),
      client_(client),
      manifests_(manifests),
      folder_(std::move(folder)),
      unpack_(std::move(unpack)),
      callbacks_(std::move(callbacks)),
      workers_(loop, kThreads) {}

void PodOutputs::fetch(const job::TaskId& task, const std::string& uid) {
  auto fetch = std::make_unique<Fetch>();
  Fetch& it = *fetch;
  it.uid = uid;
  OutputsArchive::Limits limits{.bytes = {},
                                .room = [this] { return cluster::disk_room(folder_); }};
  if (const auto mib = manifests_.input().spec.outputs_limit_mib) {
    limits.bytes = static_cast<std::uint64_t>(*mib) << 20U;
  }
  it.written = base::make_folders(folder_, 0755);
  // An earlier fetch is gone before, with what it has kept.
  fetches_[task] = nullptr;
  it.archive = std::make_unique<OutputsArchive>(
      base::format("{}/.{}.tar", folder_, folder_name(task)), std::move(limits));
  if (it.written.ok()) it.written = it.archive->begin();
  fetches_[task] = std::move(fetch);
  if (!it.written.ok()) return end_later(task, uid, it.written.error());
  kubernetes::ExecRequest request;
  request.name_space = manifests_.input().name_space;
  request.pod = manifests_.pod_name(task);
  request.container = kOutputsContainer;
  request.command = outputs_command(kWorkingFolder, manifests_.outputs_of(task));
  kubernetes::ExecCallbacks callbacks;
  callbacks.on_output = [this, task, &it](std::string_view piece) { on_output(task, it, piece); };
  callbacks.on_errors = [this, task, &it](std::string_view piece) { on_errors(task, it, piece); };
  callbacks.on_end = [this, task, uid](base::Result<int> status) {
    end_later(task, uid, std::move(status));
  };
  it.activity = client_.exec(std::move(request), loop_.now() + kOutputsLimit, std::move(callbacks));
}

// A callback may fetch again, which must not end this fetch while it calls.
void PodOutputs::end_later(const job::TaskId& task, const std::string& uid,
                           base::Result<int> status) {
  posts_.post([this, task, uid, status = std::move(status)] {
    const auto found = fetches_.find(task);
    if (found != fetches_.end() && found->second->uid == uid) on_ended(task, status);
  });
}

void PodOutputs::on_output(const job::TaskId& task, Fetch& fetch, std::string_view piece) {
  if (fetch.written.ok()) fail(task, fetch, fetch.archive->put(piece));
}

void PodOutputs::on_errors(const job::TaskId& task, Fetch& fetch, std::string_view piece) {
  fetch.errors += piece.substr(0, kMaxErrors - std::min(kMaxErrors, fetch.errors.size()));
  fetch.error_bytes += piece.size();
  if (fetch.error_bytes <= kMaxErrorsRead || !fetch.written.ok()) return;
  fail(task, fetch,
       base::Error{
           base::Code::kResourceExhausted,
           base::format("tar in the pod told more than {} MiB of errors: {}", kMaxErrorsRead >> 20U,
                        base::their_words(outputs_errors(fetch.errors).others))});
}

// Output that cannot be kept is not read until its end, which may never come.
void PodOutputs::fail(const job::TaskId& task, Fetch& fetch, base::Result<> why) {
  fetch.written = std::move(why);
  if (!fetch.written.ok()) end_later(task, fetch.uid, fetch.written.error());
}

void PodOutputs::on_ended(const job::TaskId& task, const base::Result<int>& status) {
  Fetch& fetch = *fetches_.at(task);
  fetch.activity.reset();
  OutputsErrors errors = outputs_errors(fetch.errors);
  const std::vector<std::string> asked = manifests_.outputs_of(task);
  // Paths that the task does not have are not reported.
  std::erase_if(errors.missing, [&](const std::string& path) {
    return std::ranges::find(asked, path) == asked.end();
  });
  for (const std::string& path : asked) {
    if (std::ranges::find(errors.missing, path) == errors.missing.end()) continue;
    callbacks_.on_warning(base::format("{} has written no {}", job::to_string(task), path));
  }
  if (!status.ok()) return done(task, status.error());
  if (!fetch.written.ok()) return done(task, std::move(fetch.written));
  base::Result<> whole = check_outputs(*status, errors, fetch.archive->is_empty(), asked.size());
  if (whole.ok()) whole = fetch.archive->end();
  if (!whole.ok()) return done(task, std::move(whole));
  const std::string folder = base::format("{}/{}", folder_, folder_name(task));
  const base::Result<> begun = workers_.run(
      [unpack = unpack_, archive = fetch.archive->path(), is_empty = fetch.archive->is_empty(),
       folder] { return unpack_into(unpack, archive, is_empty, folder); },
      [this, task](const base::Result<std::string>& unpacked) { on_unpacked(task, unpacked); });
  if (!begun.ok()) done(task, begun.error());
}

void PodOutputs::on_unpacked(const job::TaskId& task, const base::Result<std::string>& unpacked) {
  if (unpacked.ok() && !unpacked->empty()) {
    callbacks_.on_warning(base::format("the outputs of {}: {}", job::to_string(task), *unpacked));
  }
  done(task, unpacked.ok() ? base::Result<>() : unpacked.error());
}

void PodOutputs::done(const job::TaskId& task, base::Result<> fetched) {
  const std::unique_ptr<Fetch> fetch = std::move(fetches_.at(task));
  fetches_.erase(task);
  callbacks_.on_fetched(task, fetch->uid, std::move(fetched));
}

}  // namespace gangrun::kubernetes::pods
