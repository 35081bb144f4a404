#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/described_json.h"
#include "base/json.h"

// The body of an answer that says why a request was refused, as masters and agents send it and
// others do, too: {"error": {"code": …, "message": …}}.
namespace gangrun::net {

struct ToldError {
  base::Json code{};  // a word; other servers may say a number
  std::string message;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::late_row("code", &ToldError::code),
                      base::row("message", &ToldError::message));
  }
};

struct ErrorBody {
  ToldError error;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(ErrorBody, error);
};

// The message in a body of at most that many bytes. None: it is another body.
inline std::optional<std::string> told_message(const std::string& body, std::size_t max_bytes) {
  const auto json = base::parse_json(body, max_bytes);
  if (!json.ok()) return std::nullopt;
  auto told = base::from_json<ErrorBody>(*json);
  if (!told.ok()) return std::nullopt;
  return std::move(told->error.message);
}

}  // namespace gangrun::net
