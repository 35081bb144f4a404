#include "spark/spark_rules.h"

namespace gangrun::spark {

namespace {

constexpr std::string_view kShippedBySpark =
    "Spark ships files to its executors (spark.files, spark.archives, SparkContext.addFile)";
constexpr std::string_view kPlacedBySpark =
    "Spark decides where its executors are and what they have when it starts";
constexpr std::string_view kFixedSize =
    "every task joins once, from the executor that Spark gives it";

}  // namespace

jobfile::PlaceRules spark_rules() {
  using jobfile::Feature;
  return {.name = std::string(kSpark),
          .words = "Spark executors (only through the Python package)",
          .reference = "[`spark`](#spark)",
          .refusals = {
              {Feature::kRestarts, "nobody restarts a task there; allowed: 0"},
              {Feature::kFiles, kShippedBySpark},
              {Feature::kArchives, kShippedBySpark},
              {Feature::kImages, "the image is that of Spark's executors"},
              {Feature::kGpus, "Spark assigns GPUs (spark.task.resource.gpu.amount)"},
              {Feature::kOtherResources, "Spark assigns them (spark.task.resource.NAME.amount)"},
              {Feature::kLabels, kPlacedBySpark},
              {Feature::kOnePerNode, kPlacedBySpark},
              {Feature::kSpares, kFixedSize},
              {Feature::kSmallerGangs, kFixedSize},
              {Feature::kHosts, kPlacedBySpark},
              {Feature::kOutputs, kWorksAtExecutor},
              {Feature::kKeptFolders, kWorksAtExecutor}}};
}

}  // namespace gangrun::spark
