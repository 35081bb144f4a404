#include "places/places.h"

#include "cluster/joined/client/spark_place.h"
#include "cluster/kubernetes/client/kubernetes_place.h"
#include "cluster/local/client/local_place.h"
#include "cluster/ssh/client/ssh_place.h"
#include "cluster/yarn/client/yarn_place.h"

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

}  // namespace gangrun::places
