#include "wire/rest_client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "job/described.h"
#include "net/http.h"
#include "wire/paths.h"

namespace gangrun::wire {

namespace {

using base::Json;
using net::HttpRequest;
using net::HttpResponse;

constexpr std::chrono::seconds kAnswerAllowance{1};

base::Result<HttpResponse> send(const net::Endpoint& endpoint, const base::Secret& secret,
                                HttpRequest request, base::Instant deadline) {
  const std::string what =
      base::format("{} {} at {}", request.method, request.path, net::to_string(endpoint));
  request.headers.add("Authorization", "Bearer " + secret.reveal());
  GANGRUN_ASSIGN(HttpResponse response, net::request(endpoint, request, deadline).context(what));
  if (response.status >= 400) return net::error_of(response).context(what);
  return response;
}

base::Result<HttpResponse> post(const net::Endpoint& endpoint, const base::Secret& secret,
                                std::string_view path, const Json& body, base::Instant deadline) {
  HttpRequest request;
  request.method = "POST";
  request.path = path;
  request.headers.add("Content-Type", "application/json");
  request.body = base::dump_json(body);
  return send(endpoint, secret, std::move(request), deadline);
}

}  // namespace

base::Result<job::JobStatus> fetch_status(const net::Endpoint& endpoint, const base::Secret& secret,
                                          base::Instant deadline) {
  HttpRequest request;
  request.path = kStatusPath;
  GANGRUN_ASSIGN(const HttpResponse response, send(endpoint, secret, std::move(request), deadline));
  GANGRUN_ASSIGN(const Json json, base::parse_json(response.body, net::kMaxResponseBytes));
  return base::from_json<job::JobStatus>(json).context("the status of the job");
}

base::Result<> request_stop(const net::Endpoint& endpoint, const base::Secret& secret, bool at_once,
                            const std::string& by, base::Instant deadline) {
  GANGRUN_TRY(
      post(endpoint, secret, kStopPath, base::to_json(StopRequest{at_once, {by}}), deadline));
  return {};
}

base::Result<cluster::Answer> ask(const net::Endpoint& endpoint, const base::Secret& secret,
                                  const cluster::Question& question, base::Instant deadline) {
  const auto response = post(endpoint, secret, kAskPath, base::to_json(question), deadline);
  if (response.ok()) {
    GANGRUN_ASSIGN(const Json json, base::parse_json(response->body, net::kMaxResponseBytes));
    return base::from_json<cluster::Answer>(json).context("the answer");
  }
  const bool is_unknown = response.error().code == base::Code::kNotFound;
  if (!is_unknown || question.kind != cluster::kNotice) return response.error();
  GANGRUN_ASSIGN(const auto notice, base::from_json<cluster::Notice>(question.about));
  GANGRUN_TRY(post(endpoint, secret, kNoticePath, base::to_json(AskedBy{notice.by}), deadline));
  return cluster::Answer{};
}

base::Result<KeptLines> fetch_lines(const net::Endpoint& endpoint, const base::Secret& secret,
                                    std::int64_t from, base::Instant wait_until,
                                    base::Instant deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(
      std::min(wait_until, deadline - kAnswerAllowance) - std::chrono::steady_clock::now());
  const milliseconds wait = std::clamp(left, milliseconds(0), milliseconds(kMaxLinesWait));
  HttpRequest request;
  request.path = kLinesPath;
  request.query["from"] = std::to_string(from);
  request.query["wait_ms"] = std::to_string(wait.count());
  GANGRUN_ASSIGN(const HttpResponse response, send(endpoint, secret, std::move(request), deadline));
  GANGRUN_ASSIGN(const Json json, base::parse_json(response.body, net::kMaxResponseBytes));
  return base::from_json<KeptLines>(json).context("the lines of the job");
}

base::Result<job::ClusterSpec> fetch_cluster_spec(const net::Endpoint& endpoint,
                                                  const base::Secret& secret, int generation,
                                                  base::Instant deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(
        deadline - std::chrono::steady_clock::now() - kAnswerAllowance);
    HttpRequest request;
    request.path = kClusterSpecPath;
    request.query["generation"] = std::to_string(generation);
    request.query["wait"] =
        std::to_string(std::clamp(left, std::chrono::seconds(0), kMaxSpecWait).count());
    GANGRUN_ASSIGN(const HttpResponse response,
                   send(endpoint, secret, std::move(request), deadline));
    if (response.status == 200) {
      GANGRUN_ASSIGN(const Json json, base::parse_json(response.body, net::kMaxResponseBytes));
      return job::cluster_spec_from_json(json).context("the cluster spec");
    }
    if (left.count() <= 0) {
      return base::deadline_exceeded(
          base::format("gave up waiting for generation {} of the cluster spec", generation));
    }
  }
}

base::Result<> call_back(const net::Endpoint& agent, const base::Secret& secret,
                         const job::Address& master, int attempt, base::Instant deadline) {
  HttpRequest request;
  request.method = "PUT";
  request.path = kMasterPath;
  request.headers.add("Content-Type", "application/json");
  request.body = base::dump_json(base::to_json(MasterCall{master.host, master.port, attempt}));
  GANGRUN_TRY(send(agent, secret, std::move(request), deadline));
  return {};
}

base::Result<OutputList> fetch_outputs(const net::Endpoint& endpoint, const base::Secret& secret,
                                       const std::string& task, base::Instant deadline) {
  HttpRequest request;
  request.path = kOutputsPath;
  if (!task.empty()) request.query["task"] = task;
  GANGRUN_ASSIGN(const HttpResponse response, send(endpoint, secret, std::move(request), deadline));
  GANGRUN_ASSIGN(const Json json, base::parse_json(response.body, net::kMaxResponseBytes));
  return base::from_json<OutputList>(json).context("the outputs of the job");
}

base::Result<std::string> read_output(const net::Endpoint& endpoint, const base::Secret& secret,
                                      const std::string& task, const std::string& name,
                                      std::uint64_t from, base::Instant deadline) {
  HttpRequest request;
  request.path = base::format("{}/{}/{}", kOutputsPath, task, name);
  request.query["from"] = std::to_string(from);
  GANGRUN_ASSIGN(HttpResponse response, send(endpoint, secret, std::move(request), deadline));
  return std::move(response.body);
}

base::Result<> remove_outputs(const net::Endpoint& endpoint, const base::Secret& secret,
                              const std::string& task, base::Instant deadline) {
  HttpRequest request;
  request.method = "DELETE";
  request.path = base::format("{}/{}", kOutputsPath, task);
  GANGRUN_TRY(send(endpoint, secret, std::move(request), deadline));
  return {};
}

}  // namespace gangrun::wire
