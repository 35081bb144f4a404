#include "yarn/node_trial.h"

#include "base/format.h"
#include "yarn/cluster_checks.h"
#include "yarn/job_access.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// All questions about one file together.
constexpr std::chrono::seconds kFileTimeout{20};
constexpr std::string_view kContent = "hello from gangrun\n";

Result<> write_and_read(hadoop::WebHdfs& files, const std::string& path, base::Instant deadline) {
  GANGRUN_TRY(files.create(path, kContent, {.permission = kOwnFile}, deadline));
  GANGRUN_ASSIGN(const std::string back, files.read(path, kContent.size() + 1, deadline));
  if (back != kContent) {
    return base::Error{base::Code::kDataLoss,
                       base::format("the bytes read from {} differ from those written", path)};
  }
  GANGRUN_ASSIGN(const bool removed, files.remove(path, false, deadline));
  if (removed) return {};
  return base::Error{base::Code::kDataLoss, base::format("{} was gone by itself", path)};
}

}  // namespace

std::string url_of(const TrialPlace& place, const std::string& file) {
  return base::format("{}{}/{}", hadoop::to_string(place.file_system), place.folder, file);
}

std::vector<std::string> tensorflow_urls(const std::vector<TrialPlace>& places,
                                         const std::string& file) {
  std::vector<std::string> urls;
  for (const TrialPlace& place : places) {
    if (place.file_system.scheme == "hdfs") urls.push_back(url_of(place, file));
  }
  return urls;
}

cluster::Check try_file(const TrialPlace& place, const hadoop::WebHdfsOptions& access,
                        const std::string& file, const std::string& where,
                        const base::Clock& clock) {
  const std::string name = hadoop::to_string(place.file_system) + where;
  hadoop::WebHdfs files(place.file_system, access);
  const auto done = write_and_read(files, place.folder + "/" + file, clock.now() + kFileTimeout);
  if (!done.ok()) {
    return {name, cluster::Verdict::kFailed, done.error().message,
            to_do_about_hdfs(done.error(), access.user)};
  }
  return {name, cluster::Verdict::kOk,
          base::format("a file was written, read and removed below {}", place.folder)};
}

}  // namespace gangrun::yarn
