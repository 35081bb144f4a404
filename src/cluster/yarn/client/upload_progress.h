#pragma once

#include <cstdint>
#include <string>

#include "client/console.h"
#include "client/run_options.h"

namespace gangrun::client {

// Tells how far uploads are: on a terminal one line that grows, elsewhere a line for each file that
// is uploaded and, of a large one, each quarter; with --json an object for each percent.
class UploadProgress {
 public:
  // The console outlives it.
  UploadProgress(Console& console, const RunOptions& options);

  void show(const std::string& name, std::uint64_t sent, std::uint64_t size);

 private:
  enum class Form { kNone, kJson, kTerminal, kLines };

  Console& console_;
  const Form form_;
  std::string name_;
  int percent_ = -1;
};

}  // namespace gangrun::client
