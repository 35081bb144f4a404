#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/columns.h"

namespace gangrun::records {

// Appends rows `begin` to `end` of the columns to `out` as records, framed. A null becomes a
// feature without values, and an empty list one with an empty list. Returns where in `out` the last
// record begins. kInvalidArgument: a list has a null in it, a record is beyond the limit, or the
// columns are not those of the fields.
base::Result<std::size_t> encode(std::span<const Field> fields, std::span<const ColumnView> columns,
                                 std::size_t begin, std::size_t end, std::string& out);

// A file for a writer that knows lines only, and puts a zero byte behind each: it gets the bytes of
// the file between zero bytes that are in it anyhow. The last record is written so that its
// checksum ends in one; a reader finds the same example in it.
class ZeroEndedLines {
 public:
  explicit ZeroEndedLines(std::vector<Field> fields) : fields_(std::move(fields)) {}

  struct Lines {
    std::string bytes;
    std::vector<std::pair<std::size_t, std::size_t>> places;  // begin and end of each in `bytes`
  };

  // The lines, of about `line_bytes` each, that these rows complete.
  base::Result<Lines> add(std::span<const ColumnView> columns, std::size_t begin, std::size_t end,
                          std::size_t line_bytes);
  // The rest of the file; none where there were no rows.
  base::Result<Lines> end(std::size_t line_bytes);

 private:
  const std::vector<Field> fields_;
  std::string
      held_;  // the part of the file that is in no line yet; whole records, but for the first
  std::size_t last_record_ = 0;  // where in held_ it begins
};

}  // namespace gangrun::records
