#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "client/checks_view.h"
#include "client/place.h"
#include "job/choice.h"
#include "job/spec.h"

namespace gangrun::cli {

namespace {

struct DoctorFlags {
  std::optional<std::string> on;
  client::DoctorOptions cluster;
  bool json = false;
};

std::vector<std::string> places_to_examine(const client::Places& places) {
  return places.names([](const client::Place& place) { return !place.examined().empty(); });
}

client::ExitStatus show_checks(const client::Examination& examined, std::string_view place,
                               bool json, client::Context& context) {
  const auto& [checks, is_whole] = examined;
  const auto size = context.console.size();
  if (json) {
    context.console.out(base::dump_json(client::checks_json(checks, is_whole)) + "\n");
  } else {
    context.console.out(client::checks_lines(checks, place, size ? size->columns : 0, is_whole));
  }
  if (!is_whole) return client::ExitStatus::kInterrupted;
  return cluster::any_failed(checks) ? client::ExitStatus::kCouldNotStart
                                     : client::ExitStatus::kSuccess;
}

client::ExitStatus run(const DoctorFlags& flags, client::Context& context) {
  const auto refuse = [&](const std::string& why) {
    return fail(context, base::invalid_argument(why), client::ExitStatus::kBadInput);
  };
  const auto known = places_to_examine(context.places);
  const std::string on = flags.on.value_or(known.front());
  const client::Place* place = context.places.find(on);
  if (place == nullptr || place->examined().empty()) {
    return refuse(base::format("--on: {}", job::not_one_of(on, "a known place", known).message));
  }
  const auto add = [&](const std::function<bool(const client::Place&)>& is_examined_so) {
    return base::format("add --on {}", base::join(context.places.names(is_examined_so), " or "));
  };
  if (flags.cluster.is_about_cluster() && !place->is_examined_as_cluster()) {
    return refuse(
        base::format("--remote, --queue, --file-system and --python apply to a cluster; {}",
                     add([](const client::Place& one) { return one.is_examined_as_cluster(); })));
  }
  if (flags.cluster.is_about_hosts() && !place->is_examined_by_host()) {
    return refuse(
        base::format("--hosts, --hostfile and --ssh-config apply to hosts; {}",
                     add([](const client::Place& one) { return one.is_examined_by_host(); })));
  }
  const auto examined = place->examine(flags.cluster, context);
  if (!examined.ok()) return fail(context, examined.error());
  return show_checks(*examined, place->examined(), flags.json, context);
}

}  // namespace

void add_doctor(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "doctor", "Check whether this machine, a cluster or hosts can run jobs.");
  const auto options = std::make_shared<DoctorFlags>();
  add_value(*command, "--on", options->on,
            base::format("{}", base::join(places_to_examine(request.places), "|")),
            "What to check (local)");
  add_flag(*command, "--remote", options->cluster.remote,
           "On YARN: also run a small job, and check from inside its container");
  add_value(*command, "-q,--queue", options->cluster.queue, "NAME",
            "On YARN: the queue to submit to (default)");
  add_list(*command, "--file-system", options->cluster.file_systems, "URL",
           "On YARN: an additional file system to check: hdfs://other");
  add_value(*command, "--python", options->cluster.python, "FILE",
            "On YARN: the Python whose TensorFlow must reach HDFS (default: python3)");
  add_list(*command, "--hosts", options->cluster.hosts, "HOSTS",
           "Over ssh: the hosts to check: gpu1,gpu2:8");
  add_value(*command, "--hostfile", options->cluster.hostfile, "FILE",
            "Over ssh: a file with the hosts, a line each");
  add_value(*command, "--ssh-config", options->cluster.ssh_config, "FILE",
            "Over ssh: configuration file of ssh, instead of ~/.ssh/config");
  add_flag(*command, "--json", options->json, "Print a JSON object");
  add_footer(*command,
             "Exits with 0 if jobs can run, otherwise with 3.\n\nExamples:\n  gangrun doctor\n  "
             "gangrun doctor --on yarn --remote --queue ml\n  "
             "gangrun doctor --on ssh --hosts gpu1,gpu2\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) { return run(*options, context); };
  });
}

}  // namespace gangrun::cli
