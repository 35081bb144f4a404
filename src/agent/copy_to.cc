#include "agent/copy_to.h"

#include <cstddef>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::agent {

namespace {

constexpr std::size_t kMaxProgramBytes = std::size_t{256} << 20U;
constexpr int kForAll = 0555;

}  // namespace

base::Result<> copy_agent(const std::string& program, const std::string& folder,
                          std::string_view version_of_job) {
  constexpr std::string_view kVersion = GANGRUN_VERSION;
  if (version_of_job != kVersion) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("this image brings gangrun-agent {}, and the job needs that of gangrun {}: "
                     "agent_image has to be of the same release",
                     kVersion, version_of_job)};
  }
  GANGRUN_ASSIGN(const std::string bytes, base::read_file(program, kMaxProgramBytes));
  return base::write_file_atomically(folder + "/gangrun-agent", bytes, kForAll);
}

}  // namespace gangrun::agent
