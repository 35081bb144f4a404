#include "cli/all_places.h"

#include "cli/kubernetes_place.h"
#include "cli/local_place.h"
#include "cli/spark_place.h"
#include "cli/yarn_place.h"

namespace gangrun::cli {

std::vector<std::unique_ptr<Place>> all_places() {
  std::vector<std::unique_ptr<Place>> places;
  places.push_back(local_place());
  places.push_back(yarn_place());
  places.push_back(kubernetes_place());
  places.push_back(spark_place());
  return places;
}

}  // namespace gangrun::cli
