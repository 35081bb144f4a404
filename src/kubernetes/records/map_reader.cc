#include "kubernetes/records/map_reader.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "journal/segments.h"
#include "journal/settled.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Code;
using base::Json;
using base::Result;

kubernetes::Request get(const std::string& name_space, const std::string& name) {
  kubernetes::Request request;
  request.path = base::format("/api/v1/namespaces/{}/configmaps/{}", name_space, name);
  return request;
}

// All at once; the client has its own limit for those under way.
Result<std::vector<Json>> read_maps(const RecordPlace& place, const std::string& chain, int count,
                                    base::Instant deadline) {
  std::vector<Json> maps(static_cast<std::size_t>(count));
  std::vector<kubernetes::ActivityHandle> asking;
  int left = count;
  std::optional<base::Error> failed;
  for (int index = 1; index <= count; ++index) {
    const std::string name = map_name(place.job_name, chain, index);
    asking.push_back(place.client.request(
        get(place.name_space, name), deadline,
        [&maps, &left, &failed, name, index](ApiAnswer answer) {
          --left;
          if (answer.object.ok()) {
            maps[static_cast<std::size_t>(index) - 1] = *std::move(answer.object);
          } else if (!failed) {
            failed = answer.object.error().context(base::format("config map {}", name));
            // The head counts what is there; it only goes with the job.
            if (failed->code == Code::kNotFound) failed->code = Code::kDataLoss;
          }
        }));
  }
  const auto is_done = [&left, &failed] { return left == 0 || failed.has_value(); };
  if (!place.loop.run_until(is_done, deadline + std::chrono::seconds(1))) {
    return base::Error{Code::kCancelled, "the program was told to stop meanwhile"};
  }
  if (failed) return *failed;
  return maps;
}

Result<> fetch_segments(const RecordPlace& place, const Head& head, const std::string& to,
                        int (*segment_of)(std::string_view), base::Instant deadline) {
  for (const auto& [chain, maps] : head.chains) {
    const int segment = segment_of(chain);
    if (segment == 0) continue;
    GANGRUN_ASSIGN(const auto parts, read_chain(place, head, chain, deadline));
    std::string text;
    for (const std::string& part : parts) text += part;
    GANGRUN_TRY(base::write_file_atomically(journal::segment_path(to, segment), text, 0600));
  }
  return {};
}

Result<std::string> make_temporary_folder() {
  std::error_code failed;
  std::string path = std::filesystem::temp_directory_path(failed).string();
  if (failed) path = "/tmp";
  path += "/gangrun-journal-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return base::from_errno(errno, "make the folder " + path);
  return path;
}

}  // namespace

Result<ReadHead> read_head(net::EventLoop& loop, kubernetes::Client& client,
                           const std::string& name_space, const std::string& head_name,
                           base::Instant deadline) {
  GANGRUN_ASSIGN(const Json map,
                 kubernetes::ask(loop, client, get(name_space, head_name), deadline));
  return head_in(map);
}

Result<std::vector<std::string>> read_chain(const RecordPlace& place, const Head& head,
                                            const std::string& chain, base::Instant deadline) {
  const auto found = head.chains.find(chain);
  if (found == head.chains.end()) return std::vector<std::string>();
  if (found->second < 0 || found->second > kMaxChainMaps) {
    return base::Error{Code::kDataLoss,
                       base::format("{} maps has no chain of records", found->second)};
  }
  GANGRUN_ASSIGN(const std::vector<Json> maps, read_maps(place, chain, found->second, deadline));
  return parts_in(place.key, place.job_id, chain, maps);
}

Result<> fetch_journal(const RecordPlace& place, const Head& head, const std::string& to,
                       base::Instant deadline) {
  return fetch_segments(place, head, to, segment_of_journal, deadline);
}

Result<> fetch_keys(const RecordPlace& place, const Head& head, const std::string& to,
                    base::Instant deadline) {
  return fetch_segments(place, head, to, segment_of_keys, deadline);
}

Result<std::string> read_result(const RecordPlace& place, const Head& head, const std::string& name,
                                base::Instant deadline) {
  const auto found = head.results.find(name);
  if (found == head.results.end()) {
    return base::not_found(base::format("{} has left no result", name));
  }
  const KeptResultEntry& entry = found->second;
  GANGRUN_ASSIGN(const auto parts, read_chain(place, head, entry.chain, deadline));
  if (parts.size() != 1 || static_cast<std::int64_t>(parts.front().size()) != entry.bytes) {
    return base::Error{Code::kDataLoss, base::format("the result of {} is not whole", name)};
  }
  return parts.front();
}

Result<std::optional<job::JobStatus>> left_status(const RecordPlace& place, const Head& head,
                                                  const base::Clock& clock,
                                                  base::Instant deadline) {
  if (!head.end.empty()) {
    GANGRUN_ASSIGN(job::JobStatus status, end_in(place.key, head));
    return std::optional(std::move(status));
  }
  GANGRUN_ASSIGN(const std::string copy, make_temporary_folder());
  const Result<> fetched = fetch_journal(place, head, copy, deadline);
  Result<std::optional<job::JobStatus>> left = std::nullopt;
  if (fetched.ok()) left = journal::left_behind(copy, clock.now(), clock.wall_now());
  std::error_code ignored;
  std::filesystem::remove_all(copy, ignored);
  return fetched.ok() ? std::move(left) : fetched.error();
}

}  // namespace gangrun::kubernetes::records
