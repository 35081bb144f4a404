#pragma once

#include <string>
#include <string_view>

#include "base/format.h"

namespace gangrun::base {

// Prints file, line, condition and operands to stderr, then aborts.
[[noreturn]] void check_failed(std::string_view file, int line, std::string_view condition,
                               const std::string& operands);

}  // namespace gangrun::base

// Our own broken invariants only, never bad input: GANGRUN_CHECK(a < b, a, b) aborts with the
// operands.
#define GANGRUN_CHECK(condition, ...)                                                             \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      ::gangrun::base::check_failed(__FILE__, __LINE__, #condition,                               \
                                    fmt::format("{}", fmt::join(std::tuple{__VA_ARGS__}, ", "))); \
    }                                                                                             \
  } while (false)
