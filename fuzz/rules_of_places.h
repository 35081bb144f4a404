#pragma once

#include "cluster/joined/spark_rules.h"
#include "cluster/kubernetes/kubernetes_rules.h"
#include "cluster/local/local_rules.h"
#include "cluster/ssh/ssh_rules.h"
#include "cluster/yarn/yarn_rules.h"
#include "job/place.h"

// The rules of places without the rooms of their clients, which would take long to build.
inline const gangrun::job::Places& rules_of_places() {
  namespace cluster = gangrun::cluster;
  static const gangrun::job::Places kRules({cluster::local_place(), cluster::yarn_place(),
                                            cluster::kubernetes_place(), cluster::ssh_place(),
                                            cluster::spark_place()});
  return kRules;
}
