#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/joined_files.h"

// Files of the client on their way into pods: config maps hold them, and those that are too large
// for one are put together in the pod before its task begins.
namespace gangrun::kubernetes::pods {

struct ManifestInput;
struct Owner;

// A file of the client that the containers of tasks are to find.
struct CarriedFile {
  std::string path;  // in the container: absolute, or relative to the working folder
  std::string content;
  bool is_executable = false;
  // The length of a file whose content is not here: somebody else has made its config maps.
  std::optional<std::uint64_t> size{};

  [[nodiscard]] std::uint64_t bytes() const { return size.value_or(content.size()); }
};

// The API server takes 1 MiB in one config map, and 3 MiB in one request with all escapes.
inline constexpr std::size_t kMaxConfigMapBytes = std::size_t{900} << 10U;
inline constexpr std::size_t kMaxCarriedFiles = 200;
inline constexpr std::size_t kMaxCarriedBytes = std::size_t{64} << 20U;

// Bytes of a file that one config map holds.
struct CarriedPart {
  std::size_t file = 0;  // which of the job's
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t config_map = 0;  // which of CarriedLayout::config_maps
  std::string key;             // there
};

// Which config map has what. Every file has at least one part.
struct CarriedLayout {
  std::vector<std::string> config_maps;  // names
  std::vector<CarriedPart> parts;        // by file, then by offset
};

// The part that a pod has in it.
struct CarriedMounts {
  base::Json volumes = base::Json::array();
  base::Json mounts = base::Json::array();  // of the task's container
  // For an init container, if a file has several parts: what it puts together, and its mounts.
  std::vector<JoinedFile> joined;
  base::Json join_mounts = base::Json::array();
};

// The absolute path of `file` in a container.
std::string carried_path(const CarriedFile& file);

// kInvalidArgument where files are too many, or too large together.
base::Result<> check_carried(std::size_t files, std::uint64_t bytes);
// Errors: too many, too large together, paths that are no files of a container or that clash.
base::Result<CarriedLayout> lay_out(const ManifestInput& input);
std::vector<base::Json> config_maps(const ManifestInput& input, const CarriedLayout& layout,
                                    const Owner& owner);
CarriedMounts carried_mounts(const ManifestInput& input, const CarriedLayout& layout);

}  // namespace gangrun::kubernetes::pods
