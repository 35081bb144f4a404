#include "places/places.h"

#include "cluster/joined/spark_rules.h"
#include "cluster/kubernetes/kubernetes_rules.h"
#include "cluster/local/local_rules.h"
#include "cluster/yarn/yarn_rules.h"

namespace gangrun::places {

const job::Places& rules() {
  static const job::Places kRules({
      cluster::local_place(),
      cluster::yarn_place(),
      cluster::kubernetes_place(),
      cluster::spark_place(),
  });
  return kRules;
}

}  // namespace gangrun::places
