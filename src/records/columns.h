#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/example.h"

namespace gangrun::records {

// One column: what its feature is called, and what its values are.
struct Field {
  std::string name;
  Kind kind = Kind::kInt64;
  bool is_list = false;
  bool is_text = false;  // of kBytes: they are to be UTF-8
};

// Rows of a column as Arrow has them in memory, somebody else's. Of lists the bits of `validity`
// and the list's offsets are those of the rows, and all else is that of the items.
struct ColumnView {
  std::span<const std::uint8_t> validity = {};  // a bit for each row; empty: all are there
  std::span<const std::int32_t> list_offsets = {};
  std::span<const std::uint8_t> item_validity = {};
  std::span<const std::int64_t> integers = {};
  std::span<const float> floats = {};
  std::span<const std::int32_t> byte_offsets = {};
  std::string_view bytes = {};
  std::size_t row_offset = 0;  // where the first row is in what is counted by rows
  std::size_t item_offset = 0;
};

// The same with its memory.
struct Column {
  std::vector<std::uint8_t> validity;
  std::size_t nulls = 0;
  std::vector<std::int32_t> list_offsets{0};
  Values values;  // its bytes are empty
  std::vector<std::int32_t> byte_offsets{0};
  std::string bytes;

  [[nodiscard]] ColumnView view(const Field& field) const;
};

}  // namespace gangrun::records
