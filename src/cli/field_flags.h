#pragma once

#include <string_view>

#include "jobfile/flags.h"
#include "jobfile/place_rules.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// The flags of a job's fields, made from their rows. Help shows them in the order in which they are
// added here. All three outlive this.
class FieldFlags {
 public:
  FieldFlags(CLI::App& command, jobfile::Flags& flags, const jobfile::RulesOfPlaces& places)
      : command_(command), flags_(flags), places_(places) {}

  // By the path of a field of task types ("memory"), or of the job ("timeouts.stop").
  void add(std::string_view path);
  void add_job(std::string_view path);
  // All that were not added before.
  void add_others();

 private:
  void add(const jobfile::TaskField& field);
  void add(const jobfile::JobField& field);

  CLI::App& command_;
  jobfile::Flags& flags_;
  const jobfile::RulesOfPlaces& places_;
};

}  // namespace gangrun::cli
