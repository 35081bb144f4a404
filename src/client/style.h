#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Lines with colours as values: cut and measured as text, turned into a terminal's language last.
namespace gangrun::client {

enum class Paint { kNone, kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

struct Span {
  std::string text;  // harmless
  Paint paint = Paint::kNone;

  friend bool operator==(const Span&, const Span&) = default;
};

class Line {
 public:
  Line() = default;
  Line(std::string text, Paint paint = Paint::kNone);  // NOLINT: a text is a line

  Line& add(std::string text, Paint paint = Paint::kNone);
  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::string text() const;
  // At most `width` columns of it.
  [[nodiscard]] Line cut_to(std::size_t width) const;
  // With SGR sequences where `colour`, else text().
  [[nodiscard]] std::string to_terminal(bool colour) const;

  friend bool operator==(const Line&, const Line&) = default;

 private:
  std::vector<Span> spans_;
};

using Lines = std::vector<Line>;

// "\x1b[…m" of a paint; empty for kNone.
std::string_view sequence_of(Paint paint);

// The same paint for the same task type, whatever else is shown.
Paint paint_of_type(std::string_view type);

struct Column {
  std::string title;
  bool right = false;  // numbers
};

// A table whose columns are as wide as their widest cell; the last one takes what is left of
// `width` (0: all that it needs), and what does not fit is cut.
Lines table(const std::vector<Column>& columns, const std::vector<std::vector<Span>>& rows,
            std::size_t width);

// The width that such a table has for its last column, and the one that the column needs.
struct LastColumn {
  std::size_t room = 0;
  std::size_t needed = 0;
};
LastColumn last_column(const std::vector<Column>& columns,
                       const std::vector<std::vector<Span>>& rows, std::size_t width);

}  // namespace gangrun::client
