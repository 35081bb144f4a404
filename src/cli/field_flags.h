#pragma once

#include <string_view>

#include "job/flags.h"
#include "job/place.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// The flags of a job's fields, made from their rows. Help shows them in the order in which they are
// added here. All three outlive this.
class FieldFlags {
 public:
  FieldFlags(CLI::App& command, job::Flags& flags, const job::Places& places)
      : command_(command), flags_(flags), places_(places) {}

  // By the path of a field of task types ("memory"), or of the job ("timeouts.stop").
  void add(std::string_view path);
  void add_job(std::string_view path);
  // All that were not added before.
  void add_others();

 private:
  void add(const job::TaskField& field);
  void add(const job::JobField& field);

  CLI::App& command_;
  job::Flags& flags_;
  const job::Places& places_;
};

}  // namespace gangrun::cli
