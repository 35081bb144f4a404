#include "cluster/kubernetes/client/unpacking.h"

#include <chrono>

#include "base/clock.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/engine.h"

namespace gangrun::client {

namespace {

constexpr std::chrono::minutes kLongest(10);
constexpr std::size_t kToldBytes = 300;

}  // namespace

base::Result<> unpack_tar(const std::string& archive, const std::string& folder) {
  GANGRUN_ASSIGN(const auto answer, process::ask({"tar", "--extract", "--no-same-owner", "--file",
                                                  archive, "--directory", folder},
                                                 std::chrono::steady_clock::now() + kLongest));
  if (answer.status == 0) return {};
  return base::Error{base::Code::kDataLoss,
                     base::format("tar ended with status {}: {}", answer.status,
                                  base::shorten(base::trim(answer.output), kToldBytes))};
}

}  // namespace gangrun::client
