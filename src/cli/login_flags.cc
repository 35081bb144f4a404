#include "cli/login_flags.h"

#include "cli/flags.h"

namespace gangrun::cli {

void add_login_flags(CLI::App& command, std::vector<std::string>& file_systems,
                     std::optional<std::string>& principal, std::optional<std::string>& keytab,
                     std::optional<std::string>& as) {
  add_list(command, "--file-system", file_systems, "URL",
           "On a cluster with Kerberos: another file system for which the tasks get tokens");
  add_value(command, "--principal", principal, "NAME@REALM",
            "On a cluster with Kerberos: as whom to come (who the ticket is of)");
  add_value(command, "--keytab", keytab, "FILE",
            "The principal's keys instead of a ticket; they go with the job, whose tokens are "
            "replaced before they end");
  add_value(command, "--as", as, "USER",
            "The user for whom the job is, where the cluster lets us act for others");
}

}  // namespace gangrun::cli
