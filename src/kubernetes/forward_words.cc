#include "kubernetes/forward_words.h"

#include "base/format.h"

namespace gangrun::kubernetes {

base::Error forward_error(const base::Error& error, const std::string& pod, std::uint16_t port) {
  if (error.message.find("connection refused") == std::string::npos) return error;
  return base::unavailable(base::format("nothing listens at port {} of pod {}", port, pod));
}

}  // namespace gangrun::kubernetes
