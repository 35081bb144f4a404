#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/access.h"
#include "kubernetes/kubeconfig_section.h"
#include "net/call.h"

namespace gangrun::kubernetes {

// Kubeconfigs, merged: of what stands in several under one name, the first file's.
struct Kubeconfig {
  std::vector<std::string> files;  // that were read; empty: there was none
  std::string current_context;
  std::map<std::string, Section> contexts;
  std::map<std::string, Section> clusters;
  std::map<std::string, Section> users;
};

// Missing files are kNotFound, or passed over.
base::Result<Kubeconfig> read_kubeconfig(const std::vector<std::string>& files, bool passes_over,
                                         const Surroundings& surroundings);

// The section `name`; kInvalidArgument with those that there are. `kind` is "context", `wanted_by`
// says who named it, to be followed by the name.
base::Result<Section> find_section(const Kubeconfig& config,
                                   const std::map<std::string, Section>& sections,
                                   const std::string& kind, const std::string& name,
                                   const std::string& wanted_by);

// The address of a cluster of a kubeconfig, and who vouches for it. Nothing of the environment's
// proxies.
base::Result<net::RemoteOptions> read_cluster(const Section& cluster, bool allows_insecure,
                                              const Surroundings& surroundings);

// The settings there for credential plugins; null: none.
base::Result<base::Json> read_plugin_config(const Section& cluster);

// The identity of a user of a kubeconfig to the server: certificate, login and impersonation of
// `access`. A token counts before a name with a password, these before a plugin.
base::Result<> read_user(const Section& user, const Surroundings& surroundings, Access& access);

}  // namespace gangrun::kubernetes
