#include "cli/login_flags.h"

#include "cli/command_builder.h"

namespace gangrun::cli {

void add_login_flags(CLI::App& command, std::vector<std::string>& file_systems,
                     std::optional<std::string>& principal, std::optional<std::string>& keytab,
                     std::optional<std::string>& as) {
  add_list(command, "--file-system", file_systems, "URL",
           "With Kerberos: an additional file system for which the tasks get tokens");
  add_value(command, "--principal", principal, "NAME@REALM",
            "Kerberos principal to use (default: the ticket's)");
  add_value(command, "--keytab", keytab, "FILE",
            "Keytab of the principal, instead of a ticket; the job keeps it to replace its tokens "
            "before they expire");
  add_value(command, "--as", as, "USER",
            "Run the job as this user (the cluster must allow you to be a proxy user)");
}

}  // namespace gangrun::cli
