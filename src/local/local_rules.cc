#include "local/local_rules.h"

namespace gangrun::local {

jobfile::PlaceRules local_rules() {
  using jobfile::Feature;
  return {.name = std::string(kLocal),
          .words = "this machine",
          .reference = "`local` (this machine)",
          .features = {Feature::kRestarts, Feature::kFiles, Feature::kImages, Feature::kGpus,
                       Feature::kSpares, Feature::kSmallerGangs, Feature::kHosts},
          // Tasks work in the caller's folder: all is in place already.
          .passed_over = {Feature::kOutputs, Feature::kKeptFolders},
          // A file for a cluster can be tried here.
          .without_use = {Feature::kLabels, Feature::kOnePerNode},
          .is_beside_master = true};
}

}  // namespace gangrun::local
