#include "client/style.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/text.h"

namespace gangrun::client {

namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kGap = "  ";

std::string aligned(const std::string& text, std::size_t width, bool right) {
  if (!right) return fit(text, width);
  const std::string shortened = cut(text, width);
  return std::string(width - std::min(width, display_width(shortened)), ' ') + shortened;
}

// The width of each column is that of its widest cell.
std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<std::vector<Span>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t widest = display_width(columns[i].title);
    for (const auto& row : rows) widest = std::max(widest, display_width(row.at(i).text));
    widths.push_back(widest);
  }
  return widths;
}

}  // namespace

std::string_view sequence_of(Paint paint) {
  switch (paint) {
    case Paint::kNone: return "";
    case Paint::kBold: return "\x1b[1m";
    case Paint::kDim: return "\x1b[2m";
    case Paint::kRed: return "\x1b[31m";
    case Paint::kGreen: return "\x1b[32m";
    case Paint::kYellow: return "\x1b[33m";
    case Paint::kBlue: return "\x1b[34m";
    case Paint::kMagenta: return "\x1b[35m";
    case Paint::kCyan: return "\x1b[36m";
  }
  return "";
}

Paint paint_of_type(std::string_view type) {
  constexpr std::array kPaints = {Paint::kCyan, Paint::kGreen, Paint::kMagenta, Paint::kYellow,
                                  Paint::kBlue};
  constexpr std::array<std::string_view, 5> kKnown = {"worker", "chief", "ps", "evaluator",
                                                      "tensorboard"};
  const auto known = std::find(kKnown.begin(), kKnown.end(), type);
  if (known != kKnown.end()) return kPaints.at(static_cast<std::size_t>(known - kKnown.begin()));
  std::size_t sum = 0;
  for (const char c : type) sum = sum * 31 + static_cast<unsigned char>(c);
  return kPaints.at(sum % kPaints.size());
}

Line::Line(std::string text, Paint paint) { add(std::move(text), paint); }

Line& Line::add(std::string text, Paint paint) {
  if (!text.empty()) spans_.push_back({std::move(text), paint});
  return *this;
}

std::size_t Line::width() const {
  std::size_t sum = 0;
  for (const Span& span : spans_) sum += display_width(span.text);
  return sum;
}

std::string Line::text() const {
  std::string all;
  for (const Span& span : spans_) all += span.text;
  return all;
}

Line Line::cut_to(std::size_t width) const {
  if (this->width() <= width) return *this;
  Line result;
  std::size_t left = width;
  for (const Span& span : spans_) {
    const std::size_t wide = display_width(span.text);
    // The last span that is shown carries the mark of what was cut.
    if (wide >= left) {
      result.add(wide == left ? cut(span.text + " ", left) : cut(span.text, left), span.paint);
      break;
    }
    result.add(span.text, span.paint);
    left -= wide;
  }
  return result;
}

std::string Line::to_terminal(bool colour) const {
  if (!colour) return text();
  std::string all;
  for (const Span& span : spans_) {
    const std::string_view start = sequence_of(span.paint);
    all += start;
    all += span.text;
    if (!start.empty()) all += kReset;
  }
  return all;
}

LastColumn last_column(const std::vector<Column>& columns,
                       const std::vector<std::vector<Span>>& rows, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  std::size_t others = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) others += widths[i] + kGap.size();
  return {.room = width > others ? width - others : 0, .needed = widths.back()};
}

Lines table(const std::vector<Column>& columns, const std::vector<std::vector<Span>>& rows,
            std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  Lines lines;
  const auto add = [&](const std::vector<Span>& cells, bool is_header) {
    Line line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& [text, paint] = cells[i];
      const bool last = i + 1 == columns.size();
      const bool stays = last && (is_header || !columns[i].right);
      line.add(stays ? text : aligned(text, widths[i], columns[i].right), paint);
      if (!last) line.add(std::string(kGap));
    }
    lines.push_back(width > 0 ? line.cut_to(width) : std::move(line));
  };
  std::vector<Span> titles;
  for (const Column& column : columns) titles.push_back({column.title, Paint::kBold});
  add(titles, true);
  for (const auto& row : rows) add(row, false);
  return lines;
}

}  // namespace gangrun::client
