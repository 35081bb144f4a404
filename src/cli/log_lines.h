#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/console.h"
#include "cli/style.h"
#include "cluster/site.h"

namespace gangrun::cli {

// "worker:0 | text": one line of a task's output among those of others.
Line prefixed(const cluster::LogLine& line, std::size_t prefix_width);

base::Json to_json(const cluster::LogLine& line);

// Writes tasks' lines: their standard output to ours, their standard error to ours.
class LogPrinter {
 public:
  struct Options {
    bool prefix = true;
    std::size_t prefix_width = 0;  // of the longest task's name
    bool json = false;             // all of it to standard output
  };

  LogPrinter(Console& console, Options options) : console_(console), options_(options) {}

  void print(const std::vector<cluster::LogLine>& lines);

 private:
  [[nodiscard]] std::string text_of(const cluster::LogLine& line) const;

  Console& console_;
  Options options_;
};

}  // namespace gangrun::cli
