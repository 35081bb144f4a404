#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gangrun::base {

void check_failed(std::string_view file, int line, std::string_view condition,
                  const std::string& operands) {
  const std::string text =
      format("{}:{}: broken invariant: {} (operands: {})\n", file, line, condition, operands);
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace gangrun::base
