#pragma once

#include <string>
#include <tuple>

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
  static constexpr auto rows() { return std::tuple(base::row("error", &ErrorBody::error)); }
};

}  // namespace gangrun::net
