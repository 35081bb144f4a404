#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "client/console.h"
#include "client/run_options.h"

namespace gangrun::client {

// Tells how far files are on their way: on a terminal one line that grows, elsewhere a line for
// each file and, of a large one, each quarter; as JSON an object for each percent.
class TransferProgress {
 public:
  enum class Form { kNone, kJson, kTerminal, kLines };

  // `verb`: what happens to the files ("upload"). The console outlives it.
  TransferProgress(Console& console, std::string verb, Form form)
      : console_(console), verb_(std::move(verb)), form_(form) {}
  // As the user of a command wants it who looks at a terminal, or not.
  static Form form_for(const Console& console, bool quiet);
  // The form for `run`.
  static Form form_for(const Console& console, const RunOptions& options);

  void show(const std::string& name, std::uint64_t sent, std::uint64_t size);

 private:
  Console& console_;
  const std::string verb_;
  const Form form_;
  std::string name_;
  int percent_ = -1;
};

}  // namespace gangrun::client
