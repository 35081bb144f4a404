#include "cli/log_lines.h"

#include "base/format.h"
#include "cli/text.h"
#include "job/json_text.h"

namespace gangrun::cli {

Line prefixed(const cluster::LogLine& line, std::size_t prefix_width) {
  Line result(fit(job::to_string(line.task), prefix_width), paint_of_type(line.task.type));
  result.add(" | ", line.is_error ? Paint::kRed : Paint::kDim);
  return result.add(harmless(line.text));
}

base::Json to_json(const cluster::LogLine& line) {
  base::Json json = {{"event", "line"},
                     {"task", job::to_string(line.task)},
                     {"stream", line.is_error ? "stderr" : "stdout"},
                     {"line", job::json_text(line.text)}};
  if (line.end == cluster::LineEnd::kGoesOn) json["partial"] = true;
  if (line.end == cluster::LineEnd::kRedrawn) json["redrawn"] = true;
  return json;
}

std::string LogPrinter::text_of(const cluster::LogLine& line) const {
  if (options_.json) return base::dump_json(to_json(line)) + "\n";
  const bool is_terminal = line.is_error ? console_.err_is_terminal() : console_.out_is_terminal();
  const bool colour = line.is_error ? console_.colour_on_err() : console_.colour_on_out();
  if (options_.prefix) {
    return prefixed(line, options_.prefix_width).to_terminal(colour) + "\n";
  }
  // One task's output on its way to a file or a program stays as it is, byte by byte.
  const bool ends = line.end == cluster::LineEnd::kNewline;
  if (!is_terminal) return ends ? line.text + "\n" : line.text;
  return harmless(line.text) + (line.end == cluster::LineEnd::kGoesOn ? "" : "\n");
}

void LogPrinter::print(const std::vector<cluster::LogLine>& lines) {
  // In one write for a run of lines of one stream: a batch of a megabyte is common.
  std::string batch;
  bool is_error = false;
  const auto flush = [&] {
    if (is_error && !options_.json) {
      console_.err(batch);
    } else {
      console_.out(batch);
    }
    batch.clear();
  };
  for (const cluster::LogLine& line : lines) {
    if (!batch.empty() && line.is_error != is_error) flush();
    is_error = line.is_error;
    batch += text_of(line);
  }
  if (!batch.empty()) flush();
}

}  // namespace gangrun::cli
