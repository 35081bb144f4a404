#include "places/places.h"

#include "cluster/joined/client/spark_place.h"
#include "cluster/kubernetes/client/kubernetes_place.h"
#include "cluster/local/client/local_place.h"
#include "cluster/ssh/client/ssh_place.h"
#include "cluster/yarn/client/yarn_place.h"
#include "cluster/yarn/token_errand.h"

namespace gangrun::places {

std::vector<std::unique_ptr<client::Place>> all() {
  std::vector<std::unique_ptr<client::Place>> places;
  places.push_back(client::local_place());
  places.push_back(client::yarn_place());
  places.push_back(client::kubernetes_place());
  places.push_back(client::ssh_place());
  places.push_back(client::spark_place());
  return places;
}

const job::Places& rules() {
  static const client::Places kPlaces(all());
  return kPlaces.rules();
}

std::vector<client::Command> programs(const job::Places& rules) {
  return {client::ytf_submit_command(rules), client::tf_spawner_command(),
          client::check_hadoop_env_command()};
}

std::optional<client::ExitStatus> run_errand(std::string_view name, const std::string& file,
                                             client::Context& context) {
  if (name == cluster::kTokenErrandCommand) return client::run_token_errand(file, context);
  return std::nullopt;
}

}  // namespace gangrun::places
