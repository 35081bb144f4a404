#include "kubernetes/pods/carried_files.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "job/spec.h"
#include "job/units.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/names.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using base::Result;

constexpr std::size_t kMaxKeyBytes = 200;  // of the 253 that Kubernetes allows
constexpr int kMode = 0444;
constexpr int kExecutableMode = 0555;
constexpr const char* kJoinedVolume = "gangrun-joined";
constexpr const char* kJoinedFolder = "/gangrun/joined";
constexpr const char* kPartsFolder = "/gangrun/parts";

std::string volume_name(std::size_t config_map) {
  return base::format("gangrun-files-{}", config_map);
}

int mode_of(const CarriedFile& file) { return file.is_executable ? kExecutableMode : kMode; }

// The file's own name with what a key may not have as '-'.
std::string key_of(const CarriedFile& file) {
  std::string key = file.path.substr(file.path.rfind('/') + 1);
  std::ranges::replace_if(
      key, [](char c) { return !base::is_letter_or_digit(c) && c != '.' && c != '_'; }, '-');
  key.resize(std::min(key.size(), kMaxKeyBytes));
  return key;
}

base::Error no_path(const std::string& path, std::string_view reason) {
  return base::invalid_argument(base::format("files: {} {}", job::in_quotes(path), reason));
}

Result<> check_path(const std::string& path) {
  const std::string_view relative =
      path.starts_with('/') ? std::string_view(path).substr(1) : std::string_view(path);
  for (const std::string& step : base::split(relative, '/')) {
    if (!step.empty() && step != "." && step != "..") continue;
    return no_path(path,
                   "is not the path of a file; allowed: names between single slashes, "
                   "without '.' and '..'");
  }
  if (path.find(':') != std::string::npos || path.find('\0') != std::string::npos) {
    return no_path(path, "cannot be mounted: Kubernetes allows no ':' in a path");
  }
  return {};
}

Result<> check_paths(const std::vector<CarriedFile>& files) {
  std::set<std::string> paths;
  for (const CarriedFile& file : files) {
    GANGRUN_TRY(check_path(file.path));
    if (!paths.insert(carried_path(file)).second) return no_path(file.path, "is there twice");
  }
  for (const std::string& path : paths) {
    for (std::size_t slash = path.rfind('/'); slash > 0; slash = path.rfind('/', slash - 1)) {
      const std::string folder = path.substr(0, slash);
      if (paths.contains(folder)) return no_path(folder, "is both a file and a folder of files");
    }
  }
  return {};
}

// Fills one config map after the other.
class Packer {
 public:
  explicit Packer(const ManifestInput& input) : input_(input) {}

  void add(std::size_t index) {
    const CarriedFile& file = input_.files[index];
    const bool has_own_map = index == 0 && !input_.names.script_config_map.empty();
    const std::size_t size = file.bytes();
    std::size_t offset = 0;
    do {
      const std::size_t part = std::min(size - offset, kMaxConfigMapBytes);
      const std::size_t config_map = map_for(part, has_own_map && offset == 0);
      std::string key = key_of(file);
      if (!has_own_map) key = base::format("{}-{}", index, key);
      if (size > kMaxConfigMapBytes) key += base::format(".{}", offset / kMaxConfigMapBytes);
      layout_.parts.push_back({index, offset, part, config_map, std::move(key)});
      offset += part;
    } while (offset < size);
  }

  CarriedLayout take() { return std::move(layout_); }

 private:
  std::size_t map_for(std::size_t bytes, bool is_script) {
    std::vector<std::string>& maps = layout_.config_maps;
    if (is_script) {
      maps.push_back(input_.names.script_config_map);
      used_ = kMaxConfigMapBytes;  // nothing else goes into it
      return 0;
    }
    if (maps.empty() || used_ + std::max<std::size_t>(bytes, 1) > kMaxConfigMapBytes) {
      maps.push_back(config_map_name(input_, maps.size()));
      used_ = 0;
    }
    used_ += bytes;
    return maps.size() - 1;
  }

  const ManifestInput& input_;
  CarriedLayout layout_;
  std::size_t used_ = 0;  // bytes of the last one
};

// As text where a request takes at most two bytes for each of it.
bool is_plain_text(std::string_view content) {
  return base::is_valid_utf8(content) && std::ranges::all_of(content, [](char c) {
           return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t' || c == '\r';
         });
}

bool is_split(const ManifestInput& input, const CarriedPart& part) {
  return part.size != input.files[part.file].bytes();
}

Json config_map_volume(const ManifestInput& input, const CarriedLayout& layout, std::size_t map) {
  Json items = Json::array();
  for (const CarriedPart& part : layout.parts) {
    if (part.config_map != map) continue;
    items.push_back(
        {{"key", part.key}, {"path", part.key}, {"mode", mode_of(input.files[part.file])}});
  }
  return {{"name", volume_name(map)},
          {"configMap", {{"name", layout.config_maps[map]}, {"items", std::move(items)}}}};
}

// One file, put together under its number.
JoinedFile joined_file(const ManifestInput& input, const CarriedLayout& layout, std::size_t file) {
  JoinedFile joined{.path = base::format("{}/{}", kJoinedFolder, file),
                    .mode = static_cast<mode_t>(mode_of(input.files[file])),
                    .parts = {}};
  for (const CarriedPart& part : layout.parts) {
    if (part.file != file) continue;
    joined.parts.push_back(base::format("{}/{}/{}", kPartsFolder, part.config_map, part.key));
  }
  return joined;
}

void add_joining(const ManifestInput& input, const CarriedLayout& layout, CarriedMounts& mounts) {
  std::set<std::size_t> maps;
  std::set<std::size_t> files;
  for (const CarriedPart& part : layout.parts) {
    if (!is_split(input, part)) continue;
    maps.insert(part.config_map);
    files.insert(part.file);
  }
  if (files.empty()) return;
  mounts.volumes.push_back({{"name", kJoinedVolume}, {"emptyDir", Json::object()}});
  mounts.join_mounts.push_back({{"name", kJoinedVolume}, {"mountPath", kJoinedFolder}});
  for (const std::size_t map : maps) {
    mounts.join_mounts.push_back({{"name", volume_name(map)},
                                  {"mountPath", base::format("{}/{}", kPartsFolder, map)},
                                  {"readOnly", true}});
  }
  for (const std::size_t file : files) {
    mounts.joined.push_back(joined_file(input, layout, file));
    mounts.mounts.push_back({{"name", kJoinedVolume},
                             {"mountPath", carried_path(input.files[file])},
                             {"subPath", base::format("{}", file)},
                             {"readOnly", true}});
  }
}

}  // namespace

Result<> check_carried(std::size_t files, std::uint64_t bytes) {
  if (files > kMaxCarriedFiles) {
    return base::invalid_argument(
        base::format("files: {} files are more than the {} that pods can be given; put them into "
                     "the image or a volume, or have agents, which fetch more",
                     files, kMaxCarriedFiles));
  }
  if (bytes <= kMaxCarriedBytes) return {};
  return base::invalid_argument(
      base::format("files: {} together are more than the {} that pods can be given; put large "
                   "files into the image or a volume, or have agents, which fetch more",
                   base::size_text(bytes), base::size_text(kMaxCarriedBytes)));
}

std::string carried_path(const CarriedFile& file) {
  return file.path.starts_with('/') ? file.path : base::format("{}/{}", kWorkingFolder, file.path);
}

Result<CarriedLayout> lay_out(const ManifestInput& input) {
  std::uint64_t bytes = 0;
  for (const CarriedFile& file : input.files) bytes += file.bytes();
  GANGRUN_TRY(check_carried(input.files.size(), bytes));
  GANGRUN_TRY(check_paths(input.files));
  Packer packer(input);
  for (std::size_t i = 0; i < input.files.size(); ++i) packer.add(i);
  return packer.take();
}

std::vector<Json> config_maps(const ManifestInput& input, const CarriedLayout& layout,
                              const Owner& owner) {
  std::vector<Json> maps;
  for (const std::string& name : layout.config_maps) {
    maps.push_back(object_of(input, "v1", "ConfigMap", name, owner));
    maps.back()["immutable"] = true;
  }
  for (const CarriedPart& part : layout.parts) {
    GANGRUN_CHECK(!input.files[part.file].size, input.files[part.file].path);
    const std::string content = input.files[part.file].content.substr(part.offset, part.size);
    Json& map = maps[part.config_map];
    if (is_plain_text(content)) {
      map["data"][part.key] = content;
    } else {
      map["binaryData"][part.key] = net::to_base64(content);
    }
  }
  return maps;
}

CarriedMounts carried_mounts(const ManifestInput& input, const CarriedLayout& layout) {
  CarriedMounts mounts;
  for (std::size_t map = 0; map < layout.config_maps.size(); ++map) {
    mounts.volumes.push_back(config_map_volume(input, layout, map));
  }
  for (const CarriedPart& part : layout.parts) {
    if (is_split(input, part)) continue;
    mounts.mounts.push_back({{"name", volume_name(part.config_map)},
                             {"mountPath", carried_path(input.files[part.file])},
                             {"subPath", part.key},
                             {"readOnly", true}});
  }
  add_joining(input, layout, mounts);
  return mounts;
}

}  // namespace gangrun::kubernetes::pods
