#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "client/cluster_session.h"
#include "client/context.h"
#include "hadoop/account.h"
#include "hadoop/configuration.h"
#include "hadoop/file_system.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn::commands {

// The YARN cluster that the environment names, and the user that we are there.
struct HadoopAccess {
  hadoop::Configuration configuration;
  hadoop::FileSystem file_system;
  hadoop::Account account;
};

// How a user comes to a cluster, as far as the user says it. All may be empty.
struct LoginOptions {
  std::string principal{};  // ours, on a cluster with Kerberos
  std::string keytab{};     // instead of a ticket, likewise; from the folder of the context
  std::string as{};         // the user for which we act
  bool is_plan = false;     // nothing is asked of the cluster, so nobody needs a ticket
};

// From HADOOP_CONF_DIR; who we are from HADOOP_USER_NAME where the cluster believes names, and from
// the ticket or the keytab where it has Kerberos. An error says what to set or to run.
base::Result<std::unique_ptr<HadoopAccess>> hadoop_access(const client::Context& context,
                                                          const LoginOptions& login = {});

// The context's clock outlives it.
std::unique_ptr<yarn::YarnSite> yarn_site(const HadoopAccess& access,
                                          const client::Context& context);

// A job there, for a command that stays with it. The access and the context outlive it.
client::ClusterJob yarn_cluster_job(const HadoopAccess& access, const std::string& id,
                                    const client::Context& context);

// The address of a job's page, by YARN's proxy; empty: nobody knows.
std::string yarn_page_url(const hadoop::Configuration& configuration, const std::string& job);

}  // namespace gangrun::yarn::commands
