#include "places/places.h"

#include "kubernetes/commands/kubernetes_place.h"
#include "local/commands/local_place.h"
#include "spark/spark_place.h"
#include "ssh/commands/ssh_place.h"
#include "yarn/commands/check_hadoop_env.h"
#include "yarn/commands/yarn_place.h"
#include "yarn/commands/ytf_submit.h"
#include "yarn/token_errand.h"

namespace gangrun::places {

std::vector<client::Place> all() {
  return {local::commands::local_place(), yarn::commands::yarn_place(),
          kubernetes::commands::kubernetes_place(), ssh::commands::ssh_place(),
          spark::spark_place()};
}

const jobfile::RulesOfPlaces& rules() {
  static const client::Places kPlaces(all());
  return kPlaces.rules();
}

std::vector<client::Command> programs(const jobfile::RulesOfPlaces& rules) {
  std::vector<client::Command> programs = {yarn::commands::ytf_submit_command(rules),
                                           kubernetes::commands::tf_spawner_command(),
                                           yarn::commands::check_hadoop_env_command()};
  for (client::Command& program : programs) program.is_program = true;
  return programs;
}

std::optional<client::ExitStatus> run_errand(std::string_view name, const std::string& file,
                                             client::Context& context) {
  if (name == yarn::kTokenErrandCommand) return yarn::commands::run_token_errand(file, context);
  return std::nullopt;
}

}  // namespace gangrun::places
