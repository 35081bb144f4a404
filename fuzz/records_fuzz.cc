// Files of TFRecords, whatever is in them.
//
// The first byte of an input chooses: even has the rest as a file, which is read in parts; odd has
// it as one example, so that no checksum is in the way. What could be read is written, and read
// again as the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "records/decoder.h"
#include "records/encoder.h"
#include "records/framing.h"
#include "records/test_rows.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own
using records::Field;
using records::Kind;

std::vector<Field> fields_for(std::uint8_t choice) {
  std::vector<Field> fields;
  for (std::size_t place = 0; place < 3; ++place) {
    const bool is_list = ((choice >> (place + 1)) & 1) != 0;
    fields.push_back({.name = std::string(1, static_cast<char>('a' + place)),
                      .kind = static_cast<Kind>(place + 1),
                      .is_list = is_list,
                      .is_text = (choice & 0x80) != 0 && place == 0});
  }
  return fields;
}

std::vector<std::string> read(const std::vector<Field>& fields, std::string_view file,
                              std::size_t part) {
  records::Decoder decoder(fields, {.file = "file", .ignores_others = true, .max_bytes = 64});
  std::vector<std::string> rows;
  const auto drain = [&] {
    const std::size_t count = decoder.rows();
    for (std::string& row : records::shown(fields, decoder.take_batch(), count)) {
      rows.push_back(std::move(row));
    }
  };
  std::size_t begin = 0;
  std::size_t size = part;
  while (begin < file.size()) {
    const std::string_view bytes = file.substr(begin, size);
    const auto taken = decoder.take(bytes);
    if (!taken.ok()) break;
    GANGRUN_CHECK(*taken <= bytes.size(), *taken, bytes.size());
    begin += *taken;
    if (decoder.is_full()) {
      drain();
    } else if (bytes.size() < size) {
      GANGRUN_CHECK(decoder.end(bytes.substr(*taken)).ok() == (*taken == bytes.size()), *taken);
      break;
    } else if (*taken == 0) {
      size += part;
    }
  }
  drain();
  return rows;
}

// Rows as they were read, written and read again.
void write_and_read(const std::vector<Field>& fields, std::string_view file) {
  records::Decoder decoder(fields, {.file = "file", .ignores_others = true});
  if (!decoder.take(file).ok()) return;
  const std::size_t rows = decoder.rows();
  const auto columns = decoder.take_batch();
  std::vector<records::ColumnView> views;
  for (std::size_t place = 0; place < fields.size(); ++place) {
    views.push_back(columns[place].view(fields[place]));
  }
  records::ZeroEndedLines lines(fields);
  std::string again;
  const auto write = [&](const base::Result<records::ZeroEndedLines::Lines>& made) {
    GANGRUN_CHECK(made.ok(), made.ok() ? "" : made.error().message);
    for (const auto& [begin, end] : made->places) {
      again += made->bytes.substr(begin, end - begin);
      again += '\0';
    }
  };
  write(lines.add(views, 0, rows, 16));
  write(lines.end(16));
  // Floats that are no numbers are shown alike.
  const auto found = read(fields, again, 1 << 20);
  GANGRUN_CHECK(found == records::shown(fields, columns, rows), rows, again.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto fields = fields_for(data[0]);
  std::string file(bytes);
  if ((data[0] & 1) != 0) {
    file.clear();
    records::append_frame(file, bytes);
    records::append_frame(file, bytes.substr(0, bytes.size() / 2));
    records::append_frame(file, bytes);
  }
  const auto in_parts = read(fields, file, std::size_t{data[1]} + 1);
  const auto at_once = read(fields, file, file.size() + 1);
  GANGRUN_CHECK(in_parts == at_once, in_parts.size(), at_once.size());
  write_and_read(fields, file);
  return 0;
}
