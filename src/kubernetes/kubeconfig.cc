#include "kubernetes/kubeconfig.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kMaxNamesBytes = 1000;

// The entries of one list of one file, "clusters" with a "cluster" each.
base::Result<> add_sections(const Section& root, const std::string& kind,
                            std::map<std::string, Section>& sections) {
  const std::string key = kind + "s";
  std::set<std::string> names;
  GANGRUN_ASSIGN(const auto entries, root.sections(key));
  for (const Section& entry : entries) {
    GANGRUN_ASSIGN(const std::string name, entry.text("name"));
    if (name.empty()) return entry.error("name", "is missing");
    const std::string place = base::format("{} {}", kind, shown(name));
    if (!names.insert(name).second) return root.error(place, "is given twice");
    GANGRUN_ASSIGN(Section section, Section::make(root.file(), place, entry.json(kind)));
    sections.emplace(name, std::move(section));
  }
  return {};
}

base::Result<> add_file(const std::string& file, const std::string& text,
                        const Surroundings& surroundings, Kubeconfig& config) {
  auto fields = surroundings.parse_yaml(text);
  if (!fields.ok()) {
    return base::invalid_argument(base::format("{}: {}", file, fields.error().message));
  }
  GANGRUN_ASSIGN(const Section root, Section::make(file, "", *std::move(fields)));
  config.files.push_back(file);
  GANGRUN_ASSIGN(const std::string current, root.text("current-context"));
  if (config.current_context.empty()) config.current_context = current;
  GANGRUN_TRY(add_sections(root, "context", config.contexts));
  GANGRUN_TRY(add_sections(root, "cluster", config.clusters));
  return add_sections(root, "user", config.users);
}

}  // namespace

base::Result<Kubeconfig> read_kubeconfig(const std::vector<std::string>& files, bool passes_over,
                                         const Surroundings& surroundings) {
  Kubeconfig config;
  for (const std::string& file : files) {
    const auto text = surroundings.read(file);
    if (!text.ok()) {
      if (passes_over && text.error().code == base::Code::kNotFound) continue;
      return text.error().context("while reading the kubeconfig");
    }
    GANGRUN_TRY(add_file(file, *text, surroundings, config));
  }
  return config;
}

base::Result<Section> find_section(const Kubeconfig& config,
                                   const std::map<std::string, Section>& sections,
                                   const std::string& kind, const std::string& name,
                                   const std::string& wanted_by) {
  const auto found = sections.find(name);
  if (found != sections.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(sections.size());
  for (const auto& [other, section] : sections) names.push_back(shown(other));
  const std::string known =
      base::shorten(base::format("{}", base::join(names, ", ")), kMaxNamesBytes);
  return base::invalid_argument(base::format(
      "{}: {} {}; {}", base::join(config.files, ":"), wanted_by,
      name.empty() ? "is missing" : shown(name) + " does not exist",
      names.empty() ? base::format("there is no {} at all", kind) : "there are: " + known));
}

}  // namespace gangrun::kubernetes
