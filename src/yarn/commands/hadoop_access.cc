#include "yarn/commands/hadoop_access.h"

#include "base/format.h"
#include "client/prepare.h"
#include "hadoop/manager_pages.h"
#include "host/own_user.h"
#include "sasl/gssapi.h"

namespace gangrun::yarn::commands {

namespace {

std::string user_of(const client::Context& context) {
  if (std::string name = context.variable("HADOOP_USER_NAME"); !name.empty()) return name;
  if (std::string name = host::own_user_name(); !name.empty()) return name;
  return context.variable("USER");
}

base::Result<hadoop::Account> account_of(const hadoop::Configuration& configuration,
                                         const LoginOptions& login,
                                         const client::Context& context) {
  hadoop::Account account;
  GANGRUN_ASSIGN(const bool secured, hadoop::is_secured(configuration));
  if (secured && !login.is_plan) {
    sasl::IdentityOptions options{.principal = login.principal, .keytab = login.keytab};
    if (!options.keytab.empty() && !options.keytab.starts_with('/')) {
      options.keytab = client::in_folder(context.folder, options.keytab);
    }
    GANGRUN_ASSIGN(account.identity, sasl::open_identity(options));
    account.user = short_name(account.identity->principal());
  } else if (!secured && (!login.principal.empty() || !login.keytab.empty())) {
    return base::invalid_argument(base::format(
        "{} needs a cluster with Kerberos; this one has none (hadoop.security.authentication)",
        login.keytab.empty() ? "--principal" : "--keytab"));
  } else {
    account.user = user_of(context);
    if (account.user.empty()) {
      return base::invalid_argument("this user has no name; set HADOOP_USER_NAME");
    }
  }
  if (!login.as.empty() && login.as != account.user) {
    account.real_user = account.user;
    account.user = login.as;
  }
  return account;
}

}  // namespace

base::Result<std::unique_ptr<HadoopAccess>> hadoop_access(const client::Context& context,
                                                          const LoginOptions& login) {
  const std::string folder = context.variable("HADOOP_CONF_DIR");
  if (folder.empty()) {
    return base::invalid_argument(
        "HADOOP_CONF_DIR is not set; set it to the folder with the cluster's core-site.xml and "
        "yarn-site.xml");
  }
  auto access = std::make_unique<HadoopAccess>();
  GANGRUN_ASSIGN(access->configuration,
                 hadoop::load_configuration(folder, hadoop::variables_of_this_process()));
  GANGRUN_ASSIGN(access->file_system, hadoop::find_file_system(access->configuration, ""));
  GANGRUN_ASSIGN(access->account, account_of(access->configuration, login, context));
  return access;
}

std::unique_ptr<yarn::YarnSite> yarn_site(const HadoopAccess& access,
                                          const client::Context& context) {
  return std::make_unique<yarn::YarnSite>(access.configuration, access.file_system, access.account,
                                          context.clock);
}

client::ClusterJob yarn_cluster_job(const HadoopAccess& access, const std::string& id,
                                    const client::Context& context) {
  const auto find = [&access, &context, id] { return yarn_site(access, context)->find_job(id); };
  return {.id = id,
          .cluster = "YARN",
          .find = [find]() -> base::Result<std::unique_ptr<cluster::Job>> {
            GANGRUN_ASSIGN(std::unique_ptr<cluster::Job> job, find());
            return job;
          },
          .check_own = [find]() -> base::Result<> {
            GANGRUN_ASSIGN(const auto job, find());
            return job->check_is_own();
          },
          .page_url = yarn_page_url(access.configuration, id)};
}

std::string yarn_page_url(const hadoop::Configuration& configuration, const std::string& job) {
  const auto proxy = hadoop::web_proxy(configuration);
  return proxy.ok() ? base::format("{}/proxy/{}/", proxy->url, job) : std::string();
}

}  // namespace gangrun::yarn::commands
