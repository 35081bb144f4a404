#include "kubernetes/records/head.h"

#include <string>
#include <utility>

#include "base/format.h"
#include "kubernetes/value_at.h"
#include "net/cipher.h"
#include "net/compression.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Code;
using base::Json;
using base::Result;

constexpr std::size_t kMaxHeadBytes = std::size_t{2} << 20U;
constexpr std::size_t kMaxEndBytes = std::size_t{64} << 20U;

base::Error no_head(std::string_view why) {
  return {Code::kDataLoss, base::format("this config map is not the head of a job: {}", why)};
}

std::string about_end(const std::string& job_id) { return job_id + "/end"; }

std::string text_of(const Head& head) { return base::dump_json(base::to_json(head)); }

}  // namespace

Json head_map(const Json& metadata, const Head& head) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", metadata},
          {"data", {{kHeadKey, text_of(head)}}}};
}

Result<ReadHead> head_in(const Json& config_map) {
  ReadHead read;
  read.uid = text_at(config_map, {"metadata", "uid"});
  read.resource_version = text_at(config_map, {"metadata", "resourceVersion"});
  const auto json = base::parse_json(text_at(config_map, {"data", kHeadKey}), kMaxHeadBytes);
  if (!json.ok()) return no_head(json.error().message);
  const auto version = base::json_member<int>(*json, "version");
  if (!version.ok()) return no_head(version.error().message);
  if (*version > kHeadVersion) {
    return base::Error{Code::kFailedPrecondition,
                       "a newer gangrun than this one has started this job"};
  }
  auto head = base::from_json<Head>(*json);
  if (!head.ok()) return no_head(head.error().message);
  read.head = *std::move(head);
  return read;
}

Json head_patch(const ReadHead& from, const Head& to) {
  return Json::array(
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", from.resource_version}},
       {{"op", "replace"}, {"path", base::format("/data/{}", kHeadKey)}, {"value", text_of(to)}}});
}

Result<std::string> sealed_end(const RecordsKey& key, const std::string& job_id,
                               const job::JobStatus& status) {
  std::string packed;
  net::Gzip gzip(net::append_to(packed));
  GANGRUN_TRY(gzip.put(base::dump_json(base::to_json(status))));
  GANGRUN_TRY(gzip.finish());
  GANGRUN_ASSIGN(const std::string sealed, net::seal(key.bytes, packed, about_end(job_id)));
  return net::to_base64(sealed);
}

Result<job::JobStatus> end_in(const RecordsKey& key, const Head& head) {
  const auto sealed = net::from_base64(head.end);
  if (!sealed) return base::Error{Code::kDataLoss, "the job's end is not base64"};
  GANGRUN_ASSIGN(const std::string packed,
                 net::unseal(key.bytes, *sealed, about_end(head.job)).context("the job's end"));
  std::string text;
  net::Inflater inflater;
  GANGRUN_TRY(inflater.put(packed, [&](std::string_view piece) -> Result<> {
    if (text.size() + piece.size() > kMaxEndBytes) {
      return base::Error{Code::kDataLoss, "the job's end is too long"};
    }
    text.append(piece);
    return {};
  }));
  GANGRUN_ASSIGN(const Json json, base::parse_json(text, kMaxEndBytes));
  return base::from_json<job::JobStatus>(json);
}

}  // namespace gangrun::kubernetes::records
