#include "cluster/kubernetes/pod_outputs.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "cluster/kubernetes/pod_book.h"

namespace gangrun::cluster {

namespace {

constexpr std::size_t kMaxErrors = std::size_t{16} * 1024;
constexpr int kThreads = 2;

// The words after the folder are what is asked for; those that are there take their place.
constexpr const char* kScript =
    "cd \"$0\" || exit 9; n=$#; for p do "
    "if [ -e \"$p\" ] || [ -L \"$p\" ]; then set -- \"$@\" \"$p\"; "
    "else echo \"gangrun-missing:$p\" >&2; fi; done; shift $n; "
    "[ $# -eq 0 ] || exec tar -cf - -- \"$@\"";

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

PodOutputs::PodOutputs(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
                       std::string folder, Unpack unpack, Callbacks callbacks)
    : loop_(loop),
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
  it.archive = base::format("{}/.{}.tar", folder_, folder_name(task));
  it.written = base::make_folders(folder_, 0755);
  it.file.reset(::open(it.archive.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (it.written.ok() && !it.file.valid()) it.written = base::from_errno(errno, it.archive);
  fetches_[task] = std::move(fetch);
  kubernetes::ExecRequest request;
  request.name_space = manifests_.input().name_space;
  request.pod = manifests_.pod_name(task);
  request.container = kOutputsContainer;
  request.command = outputs_command(kWorkingFolder, manifests_.outputs_of(task));
  kubernetes::ExecCallbacks callbacks;
  callbacks.on_output = [this, task, &it](std::string_view piece) { on_output(task, it, piece); };
  callbacks.on_errors = [&it](std::string_view piece) {
    it.errors += piece.substr(0, kMaxErrors - std::min(kMaxErrors, it.errors.size()));
  };
  callbacks.on_end = [this, task, uid](base::Result<int> status) {
    end_later(task, uid, std::move(status));
  };
  it.activity = client_.exec(std::move(request), loop_.now() + kOutputsLimit, std::move(callbacks));
}

// What is told may fetch again, which must not end this one while it calls.
void PodOutputs::end_later(const job::TaskId& task, const std::string& uid,
                           base::Result<int> status) {
  loop_.post([this, alive = std::weak_ptr<bool>(alive_), task, uid, status = std::move(status)] {
    if (alive.expired()) return;
    const auto found = fetches_.find(task);
    if (found != fetches_.end() && found->second->uid == uid) on_ended(task, status);
  });
}

void PodOutputs::on_output(const job::TaskId& task, Fetch& fetch, std::string_view piece) {
  if (!fetch.written.ok()) return;
  fetch.bytes += piece.size();
  fetch.written = base::write_all(fetch.file.get(), piece, fetch.archive);
  // What cannot be kept is not listened to until its end, which may never come.
  if (!fetch.written.ok()) end_later(task, fetch.uid, fetch.written.error());
}

void PodOutputs::on_ended(const job::TaskId& task, const base::Result<int>& status) {
  Fetch& fetch = *fetches_.at(task);
  fetch.activity.reset();
  fetch.file.reset();
  const OutputsErrors errors = outputs_errors(fetch.errors);
  for (const std::string& path : manifests_.outputs_of(task)) {
    if (std::ranges::find(errors.missing, path) == errors.missing.end()) continue;
    callbacks_.on_warning(base::format("{} has written no {}", job::to_string(task), path));
  }
  if (!status.ok()) return done(task, status.error());
  if (!fetch.written.ok()) return done(task, std::move(fetch.written));
  if (*status != 0) {
    return done(task, base::Error{base::Code::kDataLoss,
                                  base::format("tar ended with status {}: {}", *status,
                                               base::shorten(errors.others, kMaxErrors))});
  }
  const std::string folder = base::format("{}/{}", folder_, folder_name(task));
  const base::Result<> begun = workers_.run(
      [unpack = unpack_, archive = fetch.archive, is_empty = fetch.bytes == 0, folder] {
        return unpack_into(unpack, archive, is_empty, folder);
      },
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
  std::error_code failed;
  std::filesystem::remove(fetch->archive, failed);
  callbacks_.on_fetched(task, fetch->uid, std::move(fetched));
}

}  // namespace gangrun::cluster
