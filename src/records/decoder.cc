#include "records/decoder.h"

#include <optional>

#include "base/check.h"
#include "base/format.h"
#include "base/strings.h"
#include "records/framing.h"

namespace gangrun::records {

namespace {

constexpr std::size_t kBits = 8;
constexpr std::size_t kMaxNameInError = 200;

base::Error no_such(const Field& field, const std::string& what) {
  return base::invalid_argument(base::format(
      "feature '{}' {}; its column is of {}{}", base::shorten(field.name, kMaxNameInError), what,
      field.is_list ? "lists of " : "", field.is_text ? "text" : to_string(field.kind)));
}

void add_bytes(Column& column) {
  for (const std::string_view bytes : column.values.bytes) {
    column.bytes.append(bytes);
    column.byte_offsets.push_back(static_cast<std::int32_t>(column.bytes.size()));
  }
  column.values.bytes.clear();
}

// A row without a value still has a place in a column of scalars.
void add_nothing(const Field& field, Column& column) {
  switch (field.kind) {
    case Kind::kInt64: column.values.integers.push_back(0); break;
    case Kind::kFloat: column.values.floats.push_back(0); break;
    case Kind::kBytes: column.byte_offsets.push_back(column.byte_offsets.back()); break;
  }
}

std::size_t count_items(const Field& field, const Column& column) {
  return field.kind == Kind::kBytes ? column.byte_offsets.size() - 1
                                    : column.values.size(field.kind);
}

void end_row(const Field& field, Column& column, std::size_t row, bool is_null) {
  if (row % kBits == 0) column.validity.push_back(0);
  if (is_null) {
    ++column.nulls;
  } else {
    column.validity.back() =
        static_cast<std::uint8_t>(column.validity.back() | (1U << (row % kBits)));
  }
  if (field.is_list) {
    column.list_offsets.push_back(static_cast<std::int32_t>(count_items(field, column)));
  } else if (is_null) {
    add_nothing(field, column);
  }
}

}  // namespace

Decoder::Decoder(std::vector<Field> fields, Options options)
    : fields_(std::move(fields)),
      options_(std::move(options)),
      columns_(fields_.size()),
      found_(fields_.size()) {
  for (std::size_t place = 0; place < fields_.size(); ++place) {
    places_.emplace(fields_[place].name, place);
  }
}

base::Error Decoder::at_record(const base::Error& error) const {
  return error.context(base::format("{}: record {}, at byte {}", options_.file, record_, offset_));
}

base::Result<std::size_t> Decoder::take(std::string_view bytes) {
  std::size_t taken = 0;
  while (!is_full()) {
    const auto frame = next_frame(bytes.substr(taken));
    if (!frame.ok()) return at_record(frame.error());
    wanted_ = frame->size;
    if (!frame->data.has_value()) break;
    if (const auto added = add(*frame->data); !added.ok()) return at_record(added.error());
    taken += frame->size;
    offset_ += frame->size;
    batch_bytes_ += frame->size;
    ++record_;
    ++rows_;
  }
  return taken;
}

base::Result<> Decoder::end(std::string_view left) const {
  if (left.empty()) return {};
  const bool has_length = left.size() >= kHeaderBytes;
  return at_record({.code = base::Code::kDataLoss,
                    .message = base::format("the file is truncated: {} of {}{} bytes are there",
                                            left.size(), has_length ? "" : "at least ", wanted_)});
}

base::Result<> Decoder::find_columns() {
  found_.assign(fields_.size(), {});
  std::size_t next = 0;  // files of one writer have their features in one order, mostly
  for (const RawFeature& feature : raw_) {
    if (next >= fields_.size() || fields_[next].name != feature.name) {
      const auto place = places_.find(feature.name);
      if (place == places_.end()) {
        if (options_.ignores_others) continue;
        return base::invalid_argument(base::format("feature '{}' has no column",
                                                   base::shorten(feature.name, kMaxNameInError)));
      }
      next = place->second;
    }
    found_[next++] = feature.values;
  }
  return {};
}

base::Result<> Decoder::add(std::string_view example) {
  GANGRUN_TRY(split_example(example, raw_));
  GANGRUN_TRY(find_columns());
  for (std::size_t place = 0; place < fields_.size(); ++place) {
    GANGRUN_TRY(add_value(fields_[place], columns_[place], found_[place]));
  }
  return {};
}

base::Result<> Decoder::add_value(const Field& field, Column& column,
                                  std::string_view feature) const {
  const std::size_t before = column.values.size(field.kind);
  GANGRUN_ASSIGN(const std::optional<Kind> kind, read_feature(feature, column.values));
  if (kind.has_value() && *kind != field.kind && column.values.size(*kind) > 0) {
    return no_such(field, base::format("has {} values", to_string(*kind)));
  }
  const std::size_t count = column.values.size(field.kind) - before;
  if (!field.is_list && count > 1) return no_such(field, base::format("has {} values", count));
  if (field.is_text) {
    for (const std::string_view text : column.values.bytes) {
      if (!base::is_valid_utf8(text)) return no_such(field, "is not UTF-8");
    }
  }
  if (field.kind == Kind::kBytes) add_bytes(column);
  end_row(field, column, rows_, field.is_list ? !kind.has_value() : count == 0);
  return {};
}

std::vector<Column> Decoder::take_batch() {
  std::vector<Column> batch(fields_.size());
  std::swap(batch, columns_);
  rows_ = 0;
  batch_bytes_ = 0;
  return batch;
}

ColumnView Column::view(const Field& field) const {
  ColumnView made{.validity = validity};
  if (field.is_list) made.list_offsets = list_offsets;
  switch (field.kind) {
    case Kind::kInt64: made.integers = values.integers; break;
    case Kind::kFloat: made.floats = values.floats; break;
    case Kind::kBytes:
      made.byte_offsets = byte_offsets;
      made.bytes = bytes;
      break;
  }
  return made;
}

}  // namespace gangrun::records
