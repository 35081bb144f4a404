#include "kubernetes/commands/checked_maps.h"

#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/pods/agent_parts.h"

namespace gangrun::kubernetes::commands {

namespace {

constexpr std::size_t kMaxLines = 500;
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 10U;

std::vector<std::string> lines_of(const std::string& path) {
  const auto text = base::read_file(path, kMaxFileBytes);
  if (!text.ok()) return {};
  std::vector<std::string> lines;
  for (std::string& line : base::split(*text, '\n')) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

CheckedMaps::CheckedMaps(const std::string& home) : path_(home + "/checked-config-maps") {
  for (const std::string& line : lines_of(path_)) uids_.insert(line.substr(0, line.find(' ')));
}

// Another client may have added to it meanwhile.
void CheckedMaps::add(const std::string& name, const std::string& uid) {
  if (!uids_.insert(uid).second) return;
  std::vector<std::string> lines = lines_of(path_);
  lines.push_back(base::format("{} {}", uid, name));
  if (lines.size() > kMaxLines) lines.erase(lines.begin(), lines.end() - kMaxLines);
  (void)base::write_file_atomically(path_, base::format("{}\n", base::join(lines, "\n")), 0600);
}

base::Result<AgentFiles> read_agent_files(const std::string& agent_program) {
  const std::filesystem::path folder = std::filesystem::path(agent_program).parent_path();
  AgentFiles files;
  GANGRUN_ASSIGN(files.loader,
                 base::read_file((folder / "gangrun-loader").string(), kMaxPartBytes));
  GANGRUN_ASSIGN(files.packed_agent,
                 base::read_file((folder / "gangrun-pod-agent.gz").string(), pods::kMaxAgentBytes));
  return files;
}

}  // namespace gangrun::kubernetes::commands
