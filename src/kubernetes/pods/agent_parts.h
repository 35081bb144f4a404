#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/joined_files.h"
#include "kubernetes/pods/owner.h"

// The agent's way into pods of any image: immutable config maps of the namespace, which its jobs
// share, hold a loader and the packed agent in parts; docs/protocols/kubernetes.md.
namespace gangrun::kubernetes::pods {

// The digest of the parts that a config map belongs to.
inline constexpr const char* kPartsLabel = "gangrun/parts";
// The folder of a container in which the loader finds the parts beside itself, and its volume.
inline constexpr const char* kAgentFolder = "/gangrun/agent";
inline constexpr const char* kAgentVolume = "gangrun-agent";
inline constexpr std::size_t kMaxPartMaps = 64;
inline constexpr std::size_t kMaxAgentBytes = std::size_t{256} << 20U;

// A loader and a packed agent, and all that is made of them. Pure.
class AgentParts {
 public:
  // `packed_agent` is as the build makes it (docs/protocols/loader.md). Each part but the last has
  // `part_bytes`, at most kMaxPartBytes. kInvalidArgument where it does not name its digest, is
  // cut, or something is too large.
  static base::Result<AgentParts> make(std::string loader, std::string packed_agent,
                                       std::size_t part_bytes = kMaxPartBytes);

  // The name of exactly these parts: 20 hexadecimal digits.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  // The loader's architecture (architecture.h); empty: it is none that agents run on.
  [[nodiscard]] std::string_view architecture() const;
  // How many config maps: the first has the loader, each of the others a part of the agent.
  [[nodiscard]] std::size_t map_count() const;
  [[nodiscard]] std::string map_name(std::size_t index) const;
  [[nodiscard]] base::Json map(std::size_t index, const std::string& name_space,
                               const Owner& owner) const;
  // Whether the server's map of that name is immutable and has exactly the bytes of ours. The
  // error names it, and says what differs and how it is removed.
  [[nodiscard]] base::Result<> check(std::size_t index, const base::Json& found) const;

  // The volume of a pod that holds the loader and the parts, and a container's mount of it.
  [[nodiscard]] base::Json volume() const;
  [[nodiscard]] static base::Json mount();
  // How a container's command begins that runs the agent as a program with this name; arguments
  // follow. `where`: "memory", or a folder of the container that takes programs.
  [[nodiscard]] base::Json command(const std::string& where, const std::string& name) const;

 private:
  // The one value of a map. The bytes belong to these parts.
  struct Value {
    std::string map;  // the end of its name
    std::string key;
    std::string_view bytes;
  };

  AgentParts(std::string loader, std::string packed_agent, std::size_t part_bytes)
      : loader_(std::move(loader)),
        packed_agent_(std::move(packed_agent)),
        part_bytes_(part_bytes) {}

  base::Result<> take_digests();
  [[nodiscard]] Value value(std::size_t index) const;
  [[nodiscard]] std::string difference(std::size_t index, const base::Json& found) const;

  std::string loader_;
  std::string packed_agent_;
  std::size_t part_bytes_;
  std::string digest_;
  std::string agent_digest_;  // SHA-256 of the unpacked agent
};

// The parts from their volume, as it is mounted at `folder` of a pod.
base::Result<AgentParts> mounted_parts(const std::string& folder);

// The JSON patch that adds an owner to an object of the server that does not name it yet. Where
// the object is another one by now, or would lose the owners that others have just given it, the
// server refuses (kInvalidArgument).
base::Json owner_patch(const base::Json& object, const Owner& owner);

}  // namespace gangrun::kubernetes::pods
