#include "kubernetes/node/job_end.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/records/map_chain.h"
#include "kubernetes/records/map_reader.h"
#include "kubernetes/records/map_writer.h"
#include "kubernetes/rfc3339.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::node {

namespace {

using base::Json;
using base::Result;

constexpr std::chrono::seconds kRemovalOfKeys{60};
constexpr int kRefusalTries = 5;
constexpr std::size_t kMaxReason = 2000;

std::string path_of_owner(const records::RecordPlace& place) {
  return base::format("/apis/batch/v1/namespaces/{}/jobs/{}", place.name_space, place.owner.name);
}

base::Error cut_short() {
  return base::unavailable("the master was told to end before that was done");
}

}  // namespace

Result<> write_end(const records::RecordPlace& place, records::HeadKeeper& head,
                   const job::JobStatus& status, records::HeadSummary summary,
                   const std::function<bool()>& is_over) {
  GANGRUN_ASSIGN(std::string end, records::sealed_end(place.key, place.job_id, status));
  // The answer may come after this has gone.
  const auto is_written = std::make_shared<bool>(false);
  head.change(
      [end = std::move(end), summary = std::move(summary)](records::Head& to) {
        if (to.end.empty()) to.end = end;
        to.summary = summary;
      },
      [is_written] { *is_written = true; });
  (void)place.loop.run_until([&] { return *is_written || is_over(); },
                             place.loop.now() + job::kLongestJob);
  return *is_written ? Result<>() : cut_short();
}

Result<> remove_keys(const records::RecordPlace& place, records::HeadKeeper& head,
                     const std::function<bool()>& is_over) {
  std::vector<std::string> chains;
  for (const auto& [chain, maps] : head.head().chains) {
    if (records::segment_of_keys(chain) > 0) chains.push_back(chain);
  }
  std::vector<std::unique_ptr<records::MapWriter>> writers;
  std::size_t left = chains.size();
  Result<> first_failure;
  for (const std::string& chain : chains) {
    writers.push_back(
        std::make_unique<records::MapWriter>(place, head, chain, records::keys_limits()));
    writers.back()->remove([&](const Result<>& removed) {
      if (!removed.ok() && first_failure.ok()) first_failure = removed;
      --left;
    });
  }
  const bool is_done = place.loop.run_until([&] { return left == 0 || is_over(); },
                                            place.loop.now() + kRemovalOfKeys);
  if (left == 0) return first_failure;
  return is_done ? cut_short() : base::deadline_exceeded("the API server does not remove them");
}

void tell_refusal(const records::RecordPlace& place, const base::Error& why,
                  base::Duration step_limit) {
  Result<> told;
  for (int tries = 0; tries < kRefusalTries; ++tries) {
    const auto read = records::read_head(place.loop, place.client, place.name_space,
                                         place.head_name, place.loop.now() + step_limit);
    told = read.ok() ? Result<>() : Result<>(read.error());
    if (!told.ok()) break;
    records::Head refused = read->head;
    refused.refusal = why.message;
    refused.refusal_code = base::to_string(why.code);
    const auto written =
        kubernetes::ask(place.loop, place.client,
                        {.method = "PATCH",
                         .path = base::format("/api/v1/namespaces/{}/configmaps/{}",
                                              place.name_space, place.head_name),
                         .body = records::head_patch(*read, refused),
                         .content_type = "application/json-patch+json"},
                        place.loop.now() + step_limit);
    if (written.ok()) return;
    told = written.error();
  }
  place.logger.warning("the refusal cannot be told: {}", told.error().message);
}

// The file is the kubelet's, mounted by itself: it cannot be replaced.
void leave_reason(const std::string& path, const base::Error& why) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << base::shorten(why.message, kMaxReason);
}

bool is_taken_away(const records::RecordPlace& place, base::Instant deadline) {
  const auto job =
      kubernetes::ask(place.loop, place.client, {.path = path_of_owner(place)}, deadline);
  if (!job.ok()) return job.error().code == base::Code::kNotFound;
  return pods::uid_of(*job) != place.owner.uid || pods::is_being_deleted(*job);
}

std::chrono::milliseconds time_kept(const records::Head& head, base::WallTime now) {
  const auto until = base::parse_iso8601(head.summary.kept_until);
  if (!until.ok() || *until <= now) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(*until - now);
}

Result<> limit_owner(const records::RecordPlace& place, const base::Clock& clock,
                     base::Duration after, base::Instant deadline) {
  const std::string path = path_of_owner(place);
  GANGRUN_ASSIGN(const Json job,
                 kubernetes::ask(place.loop, place.client, {.path = path}, deadline));
  const auto started = parse_rfc3339(text_at(job, {"status", "startTime"}));
  const auto age = started ? clock.wall_now() - *started : base::Duration(0);
  const auto limit = std::chrono::ceil<std::chrono::seconds>(
      std::max<base::Duration>(age, base::Duration(0)) + after);
  GANGRUN_TRY(kubernetes::ask(place.loop, place.client,
                              {.method = "PATCH",
                               .path = path,
                               .body = {{"spec", {{"activeDeadlineSeconds", limit.count()}}}},
                               .content_type = "application/merge-patch+json"},
                              deadline));
  return {};
}

}  // namespace gangrun::kubernetes::node
