#include "local/local_images.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "jobfile/container.h"

namespace gangrun::local {

base::Result<> check_images(const job::JobSpec& spec, const base::Result<std::string>& engine,
                            base::Instant deadline) {
  for (const std::string& image : jobfile::images_of(spec)) {
    const std::string field = base::format("image: '{}'", image);
    if (!engine.ok())
      return base::invalid_argument(base::format("{}: {}", field, engine.error().message));
    const auto answer =
        process::ask({*engine, "image", "inspect", "--format", "{{.Id}}", image}, deadline);
    if (!answer.ok())
      return base::invalid_argument(base::format("{}: {}", field, answer.error().message));
    if (answer->status == 0) continue;
    // The list of what it found, which is empty, comes before what it says.
    const std::size_t start = answer->output.find_first_not_of("[] \n");
    const std::string said(base::trim(
        std::string_view(answer->output).substr(std::min(start, answer->output.size()))));
    return base::invalid_argument(base::format(
        "{} cannot be run on this machine; allowed: an image that {} has here (it says: {})", field,
        *engine, said));
  }
  return {};
}

}  // namespace gangrun::local
