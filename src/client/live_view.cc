#include "client/live_view.h"

#include <algorithm>

#include "base/format.h"
#include "client/log_lines.h"
#include "client/render.h"
#include "client/report.h"
#include "client/text.h"

namespace gangrun::client {

namespace {

// Lines of the tasks below their table.
constexpr std::size_t kMostSaid = 10;

}  // namespace

std::string replace_frame(const Lines& shown, const Lines& above, const Lines& next,
                          std::size_t columns, bool colour) {
  std::size_t rows = 0;
  for (const Line& line : shown) {
    const std::size_t width = line.width();
    rows += columns == 0 || width <= columns ? 1 : (width + columns - 1) / columns;
  }
  std::string bytes;
  if (rows > 0) bytes += base::format("\x1b[{}A\r", rows);
  for (const Lines* lines : {&above, &next}) {
    // Erased line by line after its text, so that nothing flickers.
    for (const Line& line : *lines) bytes += line.to_terminal(colour) + "\x1b[K\n";
  }
  return bytes + "\x1b[J";
}

void LiveView::draw(const Lines& above) {
  const Size size = console_.size().value_or(Size{});
  // The last column and the last row stay free: writing there would scroll or wrap.
  Lines next = render(status_, size.columns - 1, size.rows - 1, notice_, said_);
  if (above.empty() && next == shown_) return;
  console_.out(replace_frame(shown_, above, next, size.columns, console_.colour_on_out()));
  shown_ = std::move(next);
}

void LiveView::started(const job::JobStatus& status) {
  status_ = status;
  draw({});
}

void LiveView::changed(const job::JobStatus& status) {
  status_ = status;
  draw({});
}

void LiveView::lines(const std::vector<cluster::LogLine>& lines) {
  Lines above;
  for (const cluster::LogLine& line : lines) {
    // The table has a progress bar as it is now.
    if (line.end == cluster::LineEnd::kRedrawn) continue;
    above.push_back(prefixed(line, options_.prefix_width));
  }
  if (options_.logs.value_or(false)) {
    if (!above.empty()) draw(above);
    return;
  }
  // Drawn with the next state of the tasks: they may say more than anybody can read.
  said_.insert(said_.end(), above.begin(), above.end());
  if (said_.size() > kMostSaid) {
    said_.erase(said_.begin(), said_.end() - static_cast<std::ptrdiff_t>(kMostSaid));
  }
}

void LiveView::warning(const std::string& sentence) {
  draw({Line("warning: ", Paint::kYellow).add(harmless_sentence(sentence))});
}

void LiveView::notice(const std::string& sentence) {
  notice_ = sentence;
  draw({});
}

void LiveView::finished(const job::JobStatus& status, int /*exit_status*/) {
  status_ = status;
  notice_.clear();
  draw({});
  console_.out(end_report(status));
}

}  // namespace gangrun::client
