#include "ssh/ssh_options.h"

namespace gangrun::ssh {

namespace {

using jobfile::FlagForms;
using jobfile::section_field;

constexpr jobfile::FieldRow<job::JobSpec> kSshFields[] = {
    section_field<&SshOptions::config>({
        .key = "config",
        .about = "Configuration file of ssh",
        .allowed = "a file",
        .flag =
            {
                .names = "--ssh-config",
                .forms = FlagForms::kOneValue,
                .value = "FILE",
                .help = "Configuration file of ssh, instead of ~/.ssh/config",
            },
        .reference = "a configuration file of ssh (`ssh -F`), relative to the folder where "
                     "`gangrun` is called",
        .default_words = "`~/.ssh/config`, then `/etc/ssh/ssh_config`",
        .is_path = true,
    }),
    section_field<&SshOptions::hostfile>({
        .key = "hostfile",
        .about = "File with the hosts, a line each: NAME, NAME:SLOTS or NAME slots=SLOTS",
        .allowed = "a file",
        .flag =
            {
                .names = "--hostfile",
                .forms = FlagForms::kOneValue,
                .value = "FILE",
            },
        .reference = "a file with the hosts, instead of `hosts`: a line each, `NAME`, "
                     "`NAME:SLOTS` or `NAME slots=SLOTS`, relative to the folder where `gangrun` "
                     "is called",
        .default_words = "the hosts that Slurm, PBS or LSF has given to this job",
        .is_path = true,
    }),
    section_field<&SshOptions::folder>({
        .key = "folder",
        .about = "Folder on the hosts for what gangrun has there",
        .allowed = "an absolute path",
        .reference = "a folder on the hosts, an absolute path, for the program, logs and copied "
                     "files. It is made where it is missing",
        .default_words =
            "the first that can be used of `~/.cache/gangrun`, `/var/tmp/gangrun-UID`, "
            "`/tmp/gangrun-UID`",
    }),
};

}  // namespace

const jobfile::Section& SshOptions::section() {
  static const jobfile::Section kSection{.key = kKey,
                                         .about = "Settings for hosts that ssh reaches",
                                         .fields = kSshFields,
                                         .make = job::make_options<SshOptions>};
  return kSection;
}

}  // namespace gangrun::ssh
