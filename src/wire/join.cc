#include "wire/join.h"

#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/cluster_spec.h"
#include "job/described.h"
#include "net/error_body.h"
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

// Whether the agent that the task had has ended.
struct ThereOrEnded {
  [[nodiscard]] static Json write(bool has_ended) { return has_ended ? kEndedWord : kThereWord; }
  static Result<> read(const Json& json, std::string_view key, bool& has_ended) {
    std::string state;
    GANGRUN_TRY(base::JsonOf<std::string>::read(json, key, state));
    has_ended = state == kEndedWord;
    return {};
  }
  [[nodiscard]] static std::string bounds() { return "as there or ended"; }
};

// The body of the answer for a task that has, or had, an agent.
struct HasAgent {
  bool has_ended = false;
  std::string reason;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("state", &HasAgent::has_ended, ThereOrEnded{}),
                      base::row("reason", &HasAgent::reason));
  }
};

Result<JoinAnswer> answer_of(const net::HttpResponse& response) {
  JoinAnswer answer;
  if (response.status == 200) {
    GANGRUN_ASSIGN(answer.agent_config, base::parse_json(response.body, net::kMaxResponseBytes));
    return answer;
  }
  if (response.status == kThereStatus) {
    GANGRUN_ASSIGN(const Json json, base::parse_json(response.body, kMaxRequestBytes));
    GANGRUN_ASSIGN(auto told, base::from_json<HasAgent>(json));
    answer.reason = std::move(told.reason);
    answer.state = told.has_ended ? JoinState::kWasThere : JoinState::kThere;
    return answer;
  }
  // Whole, where error_of() shortens it.
  auto told = net::told_message(response.body, kMaxRequestBytes);
  answer.reason = told ? *std::move(told) : net::error_of(response).message;
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

net::HttpResponse response_of(const JoinAnswer& answer) {
  switch (answer.state) {
    case JoinState::kJoined: return json_response(200, base::dump_json(answer.agent_config));
    case JoinState::kThere:
    case JoinState::kWasThere: {
      const HasAgent told{answer.state == JoinState::kWasThere, answer.reason};
      return json_response(kThereStatus, base::dump_json(base::to_json(told)));
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
