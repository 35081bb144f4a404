#include "base/variable.h"

#include <cstdlib>

namespace gangrun::base {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace gangrun::base
