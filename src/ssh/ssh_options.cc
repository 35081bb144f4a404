#include "ssh/ssh_options.h"

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "job/units.h"
#include "jobfile/container.h"

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

jobfile::Found check_on_ssh(const job::JobSpec& job) {
  const auto& own = ssh_of(job);
  const std::string& folder = own.folder;
  if (!folder.empty() && !folder.starts_with('/')) {
    return jobfile::Problem{"ssh.folder",
                            base::format("{} is not an absolute path", job::in_quotes(folder))};
  }
  if (!job.hosts.empty() && !own.hostfile.empty()) {
    return jobfile::Problem{"ssh.hostfile",
                            base::format("{} is not allowed beside `hosts`; allowed: one of them",
                                         job::in_quotes(own.hostfile))};
  }
  return std::nullopt;
}

}  // namespace

const jobfile::Section& SshOptions::section() {
  static const jobfile::Section kSection{.key = kKey,
                                         .about = "Settings for hosts that ssh reaches",
                                         .fields = kSshFields,
                                         .make = job::make_options<SshOptions>};
  return kSection;
}

jobfile::PlaceRules ssh_rules() {
  using jobfile::Feature;
  constexpr std::string_view kPlacedByHosts = "allowed: `hosts`, which says what runs where";
  return {.name = std::string(kSsh),
          .words = "hosts that ssh reaches (--hosts)",
          .reference = "[`ssh`](#ssh)",
          .features = {Feature::kRestarts, Feature::kFiles, Feature::kImages, Feature::kGpus,
                       Feature::kSpares, Feature::kSmallerGangs, Feature::kHosts, Feature::kOutputs,
                       Feature::kKeptFolders},
          .refusals = {{Feature::kLabels, kPlacedByHosts},
                       {Feature::kOnePerNode, "allowed: `hosts` with one slot each (NAME:1)"}},
          .section = &SshOptions::section(),
          .brings_files = true,
          .check = check_on_ssh};
}

base::Result<> check_gpus(const job::JobSpec& spec, const std::vector<int>& gpus_of_hosts) {
  const int largest = gpus_of_hosts.empty() ? 0 : *std::ranges::max_element(gpus_of_hosts);
  const int all = std::accumulate(gpus_of_hosts.begin(), gpus_of_hosts.end(), 0);
  int asked = 0;
  for (const job::TaskSpec& task : spec.tasks) {
    for (int index = 0; index < task.slots(); ++index) {
      const int own = task.resources_of(index).gpus;
      asked += own;
      if (own > largest) {
        return base::invalid_argument(base::format("{} asks for {}; the host with the most has {}",
                                                   job::to_string(job::TaskId{task.type, index}),
                                                   base::count_text(own, "GPU"), largest));
      }
    }
  }
  if (asked <= all) return {};
  return base::invalid_argument(
      base::format("the job asks for {}; there {} {} on {}", base::count_text(asked, "GPU"),
                   all == 1 ? "is" : "are", all,
                   base::count_text(static_cast<std::int64_t>(gpus_of_hosts.size()), "host")));
}

base::Result<> check_engine(const job::JobSpec& spec, const std::string& host,
                            const HelloMessage& hello) {
  const auto images = jobfile::images_of(spec);
  if (images.empty() || !hello.engine.empty()) return {};
  return base::invalid_argument(base::format("image: {}: host {}: {}",
                                             job::in_quotes(*images.begin()), host,
                                             base::their_words(hello.engine_lack)));
}

}  // namespace gangrun::ssh
