#include "kubernetes/refusal.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes {

namespace {

using base::Code;

constexpr std::size_t kMaxMessageBytes = 2000;
constexpr std::size_t kMaxShown = 1000;

std::string one_line(std::string_view text) {
  std::string out(base::trim(text));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return base::shorten(out, kMaxMessageBytes);
}

bool has_cause(const Refusal& refusal, std::string_view reason) {
  return std::ranges::any_of(list_at(refusal.details, {"causes"}), [&](const base::Json& cause) {
    return text_at(cause, {"reason"}) == reason;
  });
}

// The part of `text` between `before` and the next `after`; `text` goes on behind it.
std::optional<std::string> take_between(std::string_view& text, std::string_view before,
                                        std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t start = begin + before.size();
  const std::size_t end = text.find(after, start);
  if (end == std::string_view::npos) return std::nullopt;
  std::string out(text.substr(start, end - start));
  text.remove_prefix(end + after.size());
  return out;
}

// From "pods is forbidden: User "eva" cannot create resource "pods" in API group "" in the
// namespace "x""; empty where it says something else.
std::string missing_right(std::string_view message) {
  std::string_view rest = message;
  const auto user = take_between(rest, "User \"", "\" cannot ");
  if (!user) return {};
  const auto verb = take_between(rest, "", " resource \"");
  const auto resource = take_between(rest, "", "\"");
  const auto group = take_between(rest, "in API group \"", "\"");
  if (!verb || !resource || !group) return {};
  std::string what = *resource;
  if (!group->empty()) what += "." + *group;
  const auto name_space = take_between(rest, "in the namespace \"", "\"");
  const std::string where =
      name_space ? base::format("in namespace \"{}\"", *name_space) : "in the whole cluster";
  return base::format("user \"{}\" has no right to {} {} {}", *user, *verb, what, where);
}

// As a part of a sentence; empty: it says nothing.
std::string says(const std::string& message) {
  return message.empty() ? message : "the API server says " + base::their_words(message, kMaxShown);
}

base::Error forbidden(const Refusal& refusal) {
  const std::string message = one_line(refusal.message);
  const std::string said = says(message);
  if (message.find("exceeded quota") != std::string::npos) return {Code::kResourceExhausted, said};
  if (has_cause(refusal, "NamespaceTerminating")) return {Code::kFailedPrecondition, said};
  const std::string right = one_line(missing_right(message));
  if (right.empty()) return {Code::kPermissionDenied, said};
  return {Code::kPermissionDenied, base::format("{} ({})", right, said)};
}

Code code_of(const Refusal& refusal) {
  switch (refusal.status) {
    case 401: return Code::kUnauthenticated;
    case 404: return Code::kNotFound;
    case 409:
      return refusal.reason == "AlreadyExists" ? Code::kAlreadyExists : Code::kFailedPrecondition;
    case 410:
    case 412: return Code::kFailedPrecondition;
    case 408:
    case 429: return Code::kUnavailable;
    default: return refusal.status >= 500 ? Code::kUnavailable : Code::kInvalidArgument;
  }
}

}  // namespace

std::optional<base::Duration> read_retry_after(const net::HttpResponse& response) {
  const auto field = response.headers.get("Retry-After");
  if (!field) return std::nullopt;
  const auto seconds = base::parse_integer(base::trim(*field));
  if (!seconds || *seconds < 0) return std::nullopt;
  return base::seconds(std::min<std::int64_t>(
      *seconds, std::chrono::duration_cast<base::seconds>(kLongestRetryAfter).count()));
}

bool may_help_to_repeat(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
}

bool may_help_to_repeat(const Refusal& refusal) {
  switch (refusal.status) {
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    default: return is_quota_conflict(refusal);
  }
}

bool is_final(const base::Error& error, std::optional<base::Duration> well) {
  if (may_help_to_repeat(error) || error.code == base::Code::kResourceExhausted) return false;
  return !well || *well > kRefusalLimit;
}

std::optional<Refusal> read_status(const base::Json& object) {
  if (text_at(object, {"kind"}) != "Status") return std::nullopt;
  Refusal out;
  out.status = base::json_member_or<int>(object, "code", 0).value_or(0);
  out.reason = text_at(object, {"reason"});
  out.message = text_at(object, {"message"});
  out.details = value_at(object, {"details"});
  return out;
}

Refusal read_refusal(const net::HttpResponse& response) {
  if (const auto body = base::parse_json(response.body, kMaxStatusBytes); body.ok()) {
    if (auto status = read_status(*body)) {
      status->status = response.status;
      return std::move(*status);
    }
  }
  return {response.status, "", net::error_of(response).message, nullptr};
}

base::Error error_of(const Refusal& refusal) {
  base::Error out = refusal.status == 403
                        ? forbidden(refusal)
                        : base::Error{code_of(refusal), says(one_line(refusal.message))};
  if (out.message.empty()) {
    out.message = base::format("the server refused with status {} {}", refusal.status,
                               base::their_words(refusal.reason));
  }
  return out;
}

bool is_quota_conflict(const Refusal& refusal) {
  return refusal.status == 409 && refusal.reason == "Conflict" &&
         text_at(refusal.details, {"kind"}) == "resourcequotas";
}

}  // namespace gangrun::kubernetes
