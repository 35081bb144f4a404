#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/context.h"
#include "cluster/yarn/yarn_site.h"
#include "hadoop/configuration.h"
#include "hadoop/file_system.h"

namespace gangrun::cli {

// The YARN cluster that the environment names, and as whom we go there.
struct HadoopAccess {
  hadoop::Configuration configuration;
  hadoop::FileSystem file_system;
  std::string user;
};

// From HADOOP_CONF_DIR and, where the cluster believes names, HADOOP_USER_NAME. An error says what
// to set.
base::Result<std::unique_ptr<HadoopAccess>> hadoop_access(const Context& context);

// The context's clock outlives it.
std::unique_ptr<cluster::YarnSite> yarn_site(const HadoopAccess& access, const Context& context);

// Where a job's page is, by YARN's proxy; empty: nobody knows.
std::string yarn_page_url(const hadoop::Configuration& configuration, const std::string& job);

}  // namespace gangrun::cli
