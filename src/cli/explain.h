#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/described.h"
#include "base/result.h"

namespace gangrun::cli {

// docs/troubleshooting.md as it was when this was built.
extern const std::string_view kTroubleshooting;

// A section of it: what some reasons for a job's end, or for its waiting, mean.
struct Explanation {
  std::vector<std::string> reasons;  // "out_of_memory"
  std::string title;                 // "Out of memory"
  std::string text;                  // for a terminal: without Markdown's marks

  GANGRUN_ROWS(Explanation, reasons, title, text);
};

// The sections of a document in which "### " begins a section and "Reason: `name`", with several
// names separated by commas, is the first line of one that has a name. In their order.
std::vector<Explanation> explanations_in(std::string_view document);

// kInvalidArgument with a near name where no section has this one.
base::Result<Explanation> explanation_of(std::string_view reason);

}  // namespace gangrun::cli
