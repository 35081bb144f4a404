#include "kubernetes/commands/pods_record.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "job/described.h"
#include "jobfile/plan_json.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/pods/kubernetes_options.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

std::string record_path(const host::JobPaths& paths) { return paths.folder + "/kubernetes.json"; }

// A file of its own, as somebody else may be writing what he has seen just then.
std::string stop_path(const host::JobPaths& paths) { return paths.folder + "/stopped-by"; }

Result<job::JobSpec> spec_of(const host::JobPaths& paths) {
  GANGRUN_ASSIGN(const std::string text, base::read_file(paths.spec(), kMaxBytes));
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxBytes));
  return jobfile::job_spec_from_json(json, {&pods::KubernetesOptions::section()});
}

}  // namespace

Result<std::optional<PodsRecord>> read_pods_record(const host::JobPaths& paths) {
  const std::string path = record_path(paths);
  if (::access(path.c_str(), F_OK) != 0) return std::optional<PodsRecord>();
  GANGRUN_ASSIGN(const std::string text, base::read_file(path, kMaxBytes));
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxBytes).context(path));
  GANGRUN_ASSIGN(PodsRecord record, base::from_json<PodsRecord>(json).context(path));
  const auto stopped_by = base::read_file(stop_path(paths), kMaxBytes);
  if (stopped_by.ok()) record.stopped_by = *stopped_by;
  return std::optional(std::move(record));
}

Result<> write_stop(const host::JobPaths& paths, const std::string& by) {
  return base::write_file_atomically(stop_path(paths), by, 0600);
}

void forget_stop(const host::JobPaths& paths) { (void)::unlink(stop_path(paths).c_str()); }

Result<> write_pods_record(const host::JobPaths& paths, const PodsRecord& record) {
  return base::write_file_atomically(record_path(paths),
                                     base::dump_json_indented(base::to_json(record)) + "\n", 0600);
}

Result<std::unique_ptr<PodsWay>> way_to_pods(const client::Context& context,
                                             const host::JobPaths& paths,
                                             const PodsRecord& record) {
  pods::ManifestInput input;
  GANGRUN_ASSIGN(input.spec, spec_of(paths));
  input.job_id = std::filesystem::path(paths.folder).filename().string();
  input.name_space = record.name_space;
  pods::KubernetesOptions options = pods::kubernetes_of(input.spec);
  options.kubeconfig = record.kubeconfig;
  options.context = record.context;
  options.name_space = record.name_space;
  GANGRUN_ASSIGN(auto access, kubernetes_access(context, options));
  if (access.remote.url != record.server) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} runs on the cluster {}, but {} points to {}; use the "
                                    "KUBECONFIG that it was started with",
                                    input.job_id, record.server, access.source, access.remote.url)};
  }
  auto way = std::make_unique<PodsWay>();
  way->logger = base::stderr_logger("gangrun", base::LogLevel::kError);
  GANGRUN_ASSIGN(way->client, kubernetes::Client::make(way->loop, *way->logger, std::move(access),
                                                       plugin_runner()));
  GANGRUN_ASSIGN(auto manifests, pods::Manifests::make(std::move(input)));
  way->manifests = std::make_unique<pods::Manifests>(std::move(manifests));
  return way;
}

}  // namespace gangrun::kubernetes::commands
