#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/columns.h"
#include "records/example.h"

namespace gangrun::records {

// From the bytes of a file to columns, a batch of rows at a time. Owns what it has read; the bytes
// are needed during a call only. Errors name file, record (counted from 0) and byte, are kDataLoss
// for damage and kInvalidArgument for what no column is made for, and leave it of no more use.
class Decoder {
 public:
  struct Options {
    std::string file;             // for errors
    bool ignores_others = false;  // features without a column are left out, and else are an error
    std::size_t max_rows = 10'000;
    std::size_t max_bytes = std::size_t{8} << 20;  // of records in a batch, and one record more
  };

  Decoder(std::vector<Field> fields, Options options);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Reads whole records until the bytes end or the batch is full, and returns how many bytes those
  // were.
  base::Result<std::size_t> take(std::string_view bytes);
  // The bytes that the record takes at which take() has ended, as far as can be told.
  [[nodiscard]] std::size_t wanted() const { return wanted_; }
  // The file has ended, with these bytes not taken: an error where there are any.
  [[nodiscard]] base::Result<> end(std::string_view left) const;

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] bool is_full() const {
    return rows_ >= options_.max_rows || batch_bytes_ >= options_.max_bytes;
  }
  // The rows of this batch, in the order of the fields; the next one begins.
  std::vector<Column> take_batch();

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  base::Result<> add(std::string_view example);
  base::Result<> find_columns();
  base::Result<> add_value(const Field& field, Column& column, std::string_view feature) const;
  [[nodiscard]] base::Error at_record(const base::Error& error) const;

  const std::vector<Field> fields_;
  const Options options_;
  std::unordered_map<std::string_view, std::size_t> places_;  // of the fields, by name
  std::vector<Column> columns_;
  std::vector<RawFeature> raw_;          // of the record that is read
  std::vector<std::string_view> found_;  // its feature of each field
  std::size_t rows_ = 0;
  std::size_t batch_bytes_ = 0;
  std::size_t wanted_ = 0;
  std::uint64_t record_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace gangrun::records
