#include "wire/join.h"

#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/cluster_spec.h"
#include "job/described.h"
#include "wire/answers.h"
#include "wire/paths.h"

namespace gangrun::wire {

namespace {

using base::Json;
using base::Result;

constexpr int kThereStatus = 409;
constexpr int kGoneStatus = 410;
constexpr std::string_view kThereWord = "there";
constexpr std::string_view kEndedWord = "ended";

// The message of an error as error_answer() writes it.
std::string told_message(const net::HttpResponse& response) {
  const base::Error error = net::error_of(response);
  const auto json = base::parse_json(response.body, kMaxRequestBytes);
  if (!json.ok() || !json->is_object() || !json->contains("error")) return error.message;
  const auto message = base::json_member<std::string>(json->at("error"), "message");
  return message.ok() ? *message : error.message;
}

Result<JoinAnswer> answer_of(const net::HttpResponse& response) {
  JoinAnswer answer;
  if (response.status == 200) {
    GANGRUN_ASSIGN(answer.agent_config, base::parse_json(response.body, net::kMaxResponseBytes));
    return answer;
  }
  if (response.status == kThereStatus) {
    GANGRUN_ASSIGN(const Json json, base::parse_json(response.body, kMaxRequestBytes));
    GANGRUN_ASSIGN(answer.reason, base::json_member<std::string>(json, "reason"));
    GANGRUN_ASSIGN(const auto state, base::json_member<std::string>(json, "state"));
    answer.state = state == kEndedWord ? JoinState::kWasThere : JoinState::kThere;
    return answer;
  }
  answer.reason = told_message(response);
  if (response.status == 404) {
    answer.state = JoinState::kUnknownTask;
  } else if (response.status == kGoneStatus) {
    answer.state = JoinState::kJobHasEnded;
  } else {
    return base::Error{net::error_of(response).code, answer.reason};
  }
  return answer;
}

}  // namespace

Result<> JoinRequest::complete() const {
  const auto address = job::parse_address(job::to_string(job::Address{host, 1}));
  if (address.ok() && address->host == host) return {};
  return base::invalid_argument(
      base::format("\"host\": {} is not a host's name or address", base::shell_quote(host)));
}

Result<JoinRequest> join_request_from(const std::string& body) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(body, kMaxRequestBytes));
  return base::from_json<JoinRequest>(json);
}

net::HttpResponse response_of(const JoinAnswer& answer) {
  switch (answer.state) {
    case JoinState::kJoined: return json_response(200, base::dump_json(answer.agent_config));
    case JoinState::kThere:
    case JoinState::kWasThere: {
      const auto state = answer.state == JoinState::kThere ? kThereWord : kEndedWord;
      return json_response(kThereStatus,
                           base::dump_json(Json{{"state", state}, {"reason", answer.reason}}));
    }
    case JoinState::kUnknownTask: return error_answer(404, "not_found", answer.reason);
    case JoinState::kJobHasEnded: return error_answer(kGoneStatus, "gone", answer.reason);
  }
  return error_answer(500, "internal", "no such state");
}

Result<JoinAnswer> join(const net::Endpoint& endpoint, const base::Secret& secret,
                        const JoinRequest& request, base::Instant deadline) {
  net::HttpRequest http;
  http.method = "POST";
  http.path = kJoinPath;
  http.headers.add("Content-Type", "application/json");
  http.headers.add("Authorization", "Bearer " + secret.reveal());
  http.body = base::dump_json(base::to_json(request));
  const std::string what = base::format("join the job at {}", net::to_string(endpoint));
  GANGRUN_ASSIGN(const net::HttpResponse response,
                 net::request(endpoint, http, deadline).context(what));
  return answer_of(response).context(what);
}

}  // namespace gangrun::wire
