#include "records/encoder.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "records/crc32c.h"
#include "records/framing.h"
#include "records/wire.h"

namespace gangrun::records {

namespace {

constexpr std::size_t kBitsOfAByte = 8;

bool is_set(std::span<const std::uint8_t> bits, std::size_t at) {
  return bits.empty() || ((bits[at / kBitsOfAByte] >> (at % kBitsOfAByte)) & 1U) != 0;
}

// A field of bytes: its tag, its size, itself.
std::size_t size_around(std::size_t size) { return 1 + varint_size(size) + size; }

char* put_head(char* at, std::uint32_t number, std::size_t size) {
  *at++ = tag_of(number, WireType::kBytes);
  return put_varint(at, size);
}

char* put_bytes(char* at, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

// The values of one row of a column, and how long they are as messages, from the inside out.
struct Cell {
  bool is_there = false;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t packed = 0;   // of numbers: their bytes
  std::size_t list = 0;     // the message of the list
  std::size_t feature = 0;  // the message Feature
  std::size_t entry = 0;    // the entry of the map
};

class RowWriter {
 public:
  RowWriter(std::span<const Field> fields, std::span<const ColumnView> columns)
      : fields_(fields), columns_(columns), cells_(fields.size()) {}

  base::Result<> append(std::size_t row, std::string& out) {
    std::size_t features = 0;
    for (std::size_t place = 0; place < fields_.size(); ++place) {
      GANGRUN_TRY(measure(fields_[place], columns_[place], row, cells_[place]));
      features += size_around(cells_[place].entry);
    }
    const std::size_t example = size_around(features);
    if (example > kMaxRecordBytes) {
      return base::invalid_argument(
          base::format("row {} becomes a record of {} bytes; allowed: at most {}", row, example,
                       kMaxRecordBytes));
    }
    const std::size_t begin = out.size();
    out.resize(begin + kHeaderBytes + example + kFooterBytes);
    char* at = put_head(out.data() + begin + kHeaderBytes, 1, features);
    for (std::size_t place = 0; place < fields_.size(); ++place) {
      at = write(fields_[place], columns_[place], cells_[place], at);
    }
    seal_frame(out.data() + begin, example);
    return {};
  }

 private:
  static base::Result<> measure(const Field& field, const ColumnView& column, std::size_t row,
                                Cell& cell);
  static char* write(const Field& field, const ColumnView& column, const Cell& cell, char* at);

  std::span<const Field> fields_;
  std::span<const ColumnView> columns_;
  std::vector<Cell> cells_;
};

std::size_t count_given(const Field& field, const ColumnView& column) {
  switch (field.kind) {
    case Kind::kInt64: return column.integers.size();
    case Kind::kFloat: return column.floats.size();
    case Kind::kBytes: return column.byte_offsets.empty() ? 0 : column.byte_offsets.size() - 1;
  }
  return 0;
}

base::Error wrong_layout(const Field& field) {
  return base::invalid_argument(
      base::format("column '{}': its buffers are not those of so many rows", field.name));
}

// The bytes of one value; none where the offsets do not lie in the buffer.
std::optional<std::string_view> bytes_at(const ColumnView& column, std::size_t item) {
  const std::int64_t begin = column.byte_offsets[item];
  const std::int64_t end = column.byte_offsets[item + 1];
  if (begin < 0 || end < begin || end > static_cast<std::int64_t>(column.bytes.size())) {
    return std::nullopt;
  }
  return column.bytes.substr(static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(end - begin));
}

base::Result<> find_items(const Field& field, const ColumnView& column, std::size_t row,
                          Cell& cell) {
  const std::size_t place = column.row_offset + row;
  cell.is_there = is_set(column.validity, place);
  cell.begin = place;
  cell.end = place + 1;
  if (field.is_list) {
    const std::int64_t begin = column.list_offsets[place];
    const std::int64_t end = column.list_offsets[place + 1];
    if (begin < 0 || end < begin) return wrong_layout(field);
    cell.begin = column.item_offset + static_cast<std::size_t>(begin);
    cell.end = column.item_offset + static_cast<std::size_t>(end);
  }
  if (!cell.is_there) return {};
  if (cell.end > count_given(field, column)) return wrong_layout(field);
  if (!field.is_list || column.item_validity.empty()) return {};
  if (cell.end > column.item_validity.size() * kBitsOfAByte) return wrong_layout(field);
  for (std::size_t item = cell.begin; item < cell.end; ++item) {
    if (!is_set(column.item_validity, item)) {
      return base::invalid_argument(base::format(
          "column '{}': an array has a null in it, which a record has no place for", field.name));
    }
  }
  return {};
}

base::Result<> RowWriter::measure(const Field& field, const ColumnView& column, std::size_t row,
                                  Cell& cell) {
  GANGRUN_TRY(find_items(field, column, row, cell));
  cell.packed = 0;
  cell.list = 0;
  cell.feature = 0;
  if (cell.is_there) {
    for (std::size_t item = cell.begin; item < cell.end; ++item) {
      if (field.kind == Kind::kInt64) {
        cell.packed += varint_size(static_cast<std::uint64_t>(column.integers[item]));
      } else if (field.kind == Kind::kBytes) {
        const auto bytes = bytes_at(column, item);
        if (!bytes.has_value()) return wrong_layout(field);
        cell.list += size_around(bytes->size());
      }
    }
    if (field.kind == Kind::kFloat) cell.packed = (cell.end - cell.begin) * sizeof(float);
    if (cell.packed > 0) cell.list = size_around(cell.packed);
    cell.feature = size_around(cell.list);
  }
  cell.entry = size_around(field.name.size()) + size_around(cell.feature);
  return {};
}

char* RowWriter::write(const Field& field, const ColumnView& column, const Cell& cell, char* at) {
  at = put_head(at, 1, cell.entry);
  at = put_bytes(put_head(at, 1, field.name.size()), field.name);
  at = put_head(at, 2, cell.feature);
  if (!cell.is_there) return at;
  at = put_head(at, static_cast<std::uint32_t>(field.kind), cell.list);
  if (cell.packed > 0) at = put_head(at, 1, cell.packed);
  if (field.kind == Kind::kFloat) {
    if (cell.packed > 0) std::memcpy(at, column.floats.data() + cell.begin, cell.packed);
    return at + cell.packed;
  }
  for (std::size_t item = cell.begin; item < cell.end; ++item) {
    if (field.kind == Kind::kInt64) {
      at = put_varint(at, static_cast<std::uint64_t>(column.integers[item]));
    } else {
      const std::string_view bytes = *bytes_at(column, item);
      at = put_bytes(put_head(at, 1, bytes.size()), bytes);
    }
  }
  return at;
}

base::Result<> check_layout(std::span<const Field> fields, std::span<const ColumnView> columns,
                            std::size_t end) {
  if (fields.size() != columns.size()) {
    return base::invalid_argument(
        base::format("{} columns for {} fields", columns.size(), fields.size()));
  }
  for (std::size_t place = 0; place < fields.size(); ++place) {
    const ColumnView& column = columns[place];
    const std::size_t rows = column.row_offset + end;
    const bool is_whole =
        (column.validity.empty() || column.validity.size() * kBitsOfAByte >= rows) &&
        (!fields[place].is_list || column.list_offsets.size() > rows);
    if (!is_whole) return wrong_layout(fields[place]);
  }
  return {};
}

// Lets the checksum of the record at `begin`, the last of `bytes`, end in a zero byte: by empty
// messages behind the features, which a reader merges with them. They are written with one byte or
// with two, so that n of them make 2^n sequences, of which each 256th fits.
bool end_in_zero(std::string& bytes, std::size_t begin) {
  constexpr unsigned kMost = 16;
  const std::size_t data_at = begin + kHeaderBytes;
  const std::size_t size = bytes.size() - data_at - kFooterBytes;
  const std::uint32_t before = crc32c(std::string_view(bytes).substr(data_at, size));
  for (unsigned count = 0; count <= kMost; ++count) {
    for (std::uint32_t chosen = 0; chosen < (1U << count); ++chosen) {
      std::string more;
      for (unsigned place = 0; place < count; ++place) {
        more += tag_of(1, WireType::kBytes);
        if (((chosen >> place) & 1U) != 0) more += '\x80';
        more += '\0';
      }
      if (masked(crc32c(more, before)) >> 24 != 0) continue;
      bytes.resize(data_at + size);
      bytes += more;
      bytes.append(kFooterBytes, '\0');
      seal_frame(bytes.data() + begin, size + more.size());
      return true;
    }
  }
  return false;
}

// Lines of bytes[0, limit), each followed by a zero byte there. Returns where the last one has
// ended.
std::size_t cut_lines(std::string_view bytes, std::size_t line_bytes, ZeroEndedLines::Lines& out) {
  std::size_t begin = 0;
  while (begin < bytes.size()) {
    std::size_t end = bytes.find('\0', begin + line_bytes);
    if (end == std::string_view::npos) end = bytes.rfind('\0');
    if (end == std::string_view::npos || end < begin) break;
    out.places.emplace_back(begin, end);
    begin = end + 1;
  }
  return begin;
}

}  // namespace

base::Result<std::size_t> encode(std::span<const Field> fields, std::span<const ColumnView> columns,
                                 std::size_t begin, std::size_t end, std::string& out) {
  GANGRUN_TRY(check_layout(fields, columns, end));
  RowWriter writer(fields, columns);
  std::size_t last = out.size();
  for (std::size_t row = begin; row < end; ++row) {
    last = out.size();
    GANGRUN_TRY(writer.append(row, out));
  }
  return last;
}

base::Result<ZeroEndedLines::Lines> ZeroEndedLines::add(std::span<const ColumnView> columns,
                                                        std::size_t begin, std::size_t end,
                                                        std::size_t line_bytes) {
  if (begin >= end) return Lines{};
  Lines made{.bytes = std::move(held_), .places = {}};
  GANGRUN_ASSIGN(const std::size_t last, encode(fields_, columns, begin, end, made.bytes));
  // The last record is held back, since it may have to be written otherwise.
  const std::string_view all = made.bytes;
  const std::size_t cut = cut_lines(all.substr(0, last), line_bytes, made);
  held_ = all.substr(cut);
  last_record_ = last - cut;
  return made;
}

base::Result<ZeroEndedLines::Lines> ZeroEndedLines::end(std::size_t line_bytes) {
  if (held_.empty()) return Lines{};
  Lines made{.bytes = std::move(held_), .places = {}};
  held_.clear();
  if (!end_in_zero(made.bytes, last_record_)) {
    return base::internal("no sequence of empty messages gives a checksum that ends in zero");
  }
  cut_lines(made.bytes, line_bytes, made);
  return made;
}

}  // namespace gangrun::records
