#include "mirror/login_errand.h"

#include <optional>
#include <tuple>
#include <utility>

#include "base/described_json.h"
#include "net/digests.h"

namespace gangrun::mirror {

namespace {

using base::Result;

// Any bytes, written in base64.
struct Base64 {
  static base::Json write(const std::string& value) { return net::to_base64(value); }
  static Result<> read(const base::Json& json, std::string_view key, std::string& out) {
    GANGRUN_TRY(base::JsonOf<std::string>::read(json, key, out));
    auto bytes = net::from_base64(out);
    if (!bytes) return base::internal("a token of a login is not in base64");
    out = *std::move(bytes);
    return {};
  }
};

struct ChallengeLine {
  std::string challenge;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("challenge", &ChallengeLine::challenge, Base64{}));
  }
};

// The answer, or why there is none.
struct AnswerLine {
  std::string error{};
  std::optional<std::string> token{};
  std::optional<bool> is_last{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row_if_set("error", &AnswerLine::error),
                      base::row("token", &AnswerLine::token, Base64{}),
                      base::row("is_last", &AnswerLine::is_last));
  }
};

template <typename T>
std::string line_of(const T& value) {
  return base::dump_json(base::to_json(value)) + "\n";
}

template <typename T>
Result<T> read_line(std::string_view line) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(line, kMaxLoginLineBytes));
  return base::from_json<T>(json);
}

}  // namespace

std::string to_line(const LoginErrand& errand) { return line_of(errand); }

Result<LoginErrand> login_errand_from(std::string_view line) {
  return read_line<LoginErrand>(line);
}

std::string challenge_line(std::string_view challenge) {
  return line_of(ChallengeLine{std::string(challenge)});
}

Result<std::string> challenge_from(std::string_view line) {
  GANGRUN_ASSIGN(ChallengeLine said, read_line<ChallengeLine>(line));
  return std::move(said.challenge);
}

std::string to_line(const Result<LoginAnswer>& answer) {
  if (!answer.ok()) return line_of(AnswerLine{.error = answer.error().message});
  return line_of(AnswerLine{.token = answer->token, .is_last = answer->is_last});
}

Result<LoginAnswer> login_answer_from(std::string_view line) {
  GANGRUN_ASSIGN(AnswerLine said, read_line<AnswerLine>(line));
  if (!said.error.empty()) return base::Error{base::Code::kUnauthenticated, std::move(said.error)};
  if (!said.token) return base::missing_member("token");
  if (!said.is_last) return base::missing_member("is_last");
  return LoginAnswer{*std::move(said.token), *said.is_last};
}

}  // namespace gangrun::mirror
