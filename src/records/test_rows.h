#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "records/columns.h"
#include "records/framing.h"

namespace gangrun::records {

// A record as files have it.
inline void append_frame(std::string& out, std::string_view data) {
  const std::size_t begin = out.size();
  out.append(kHeaderBytes, '\0');
  out.append(data);
  out.append(kFooterBytes, '\0');
  seal_frame(out.data() + begin, data.size());
}

inline std::string shown_item(const Field& field, const ColumnView& column, std::size_t item) {
  switch (field.kind) {
    case Kind::kInt64: return std::to_string(column.integers[item]);
    case Kind::kFloat: return base::format("{}", column.floats[item]);
    case Kind::kBytes: {
      const auto begin = static_cast<std::size_t>(column.byte_offsets[item]);
      return std::string(column.bytes.substr(
          begin, static_cast<std::size_t>(column.byte_offsets[item + 1]) - begin));
    }
  }
  return "";
}

// A field of protobuf whose content is bytes, fewer than 128.
inline std::string field_of(int number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

// The entry of a feature in a message Features.
inline std::string entry_of(const std::string& name, const std::string& feature) {
  return field_of(1, field_of(1, name) + field_of(2, feature));
}

// Each row as a text: "x=1 y=[2,3] z=null".
inline std::vector<std::string> shown(const std::vector<Field>& fields,
                                      const std::vector<Column>& columns, std::size_t rows) {
  std::vector<std::string> found;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> words;
    for (std::size_t place = 0; place < fields.size(); ++place) {
      const Field& field = fields[place];
      const ColumnView column = columns[place].view(field);
      std::string text = "null";
      if (column.validity.empty() || ((column.validity[row / 8] >> (row % 8)) & 1U) != 0) {
        text = field.is_list ? "[" : shown_item(field, column, row);
        if (field.is_list) {
          for (auto item = column.list_offsets[row]; item < column.list_offsets[row + 1]; ++item) {
            if (item > column.list_offsets[row]) text += ",";
            text += shown_item(field, column, static_cast<std::size_t>(item));
          }
          text += "]";
        }
      }
      words.push_back(field.name + "=" + text);
    }
    found.push_back(base::format("{}", base::join(words, " ")));
  }
  return found;
}

// Three rows of every kind, the second of which has nothing but an empty list.
struct Sample {
  std::vector<Field> fields;
  std::vector<Column> columns;
  std::vector<std::string> shown;

  [[nodiscard]] std::vector<ColumnView> views() const {
    std::vector<ColumnView> made;
    for (std::size_t place = 0; place < fields.size(); ++place) {
      made.push_back(columns[place].view(fields[place]));
    }
    return made;
  }
};

inline Sample make_sample() {
  Sample sample;
  const auto add = [&](Field field) -> Column& {
    sample.fields.push_back(std::move(field));
    sample.columns.emplace_back();
    sample.columns.back().validity = {0b101};
    return sample.columns.back();
  };
  add({.name = "i", .kind = Kind::kInt64}).values.integers = {7, 0, -7};
  add({.name = "f", .kind = Kind::kFloat}).values.floats = {0.5F, 0, -2};
  Column& text = add({.name = "t", .kind = Kind::kBytes, .is_text = true});
  text.byte_offsets = {0, 1, 1, 3};
  text.bytes = "aä";
  Column& integers = add({.name = "ii", .kind = Kind::kInt64, .is_list = true});
  integers.values.integers = {1, 300, 5};
  integers.list_offsets = {0, 2, 2, 3};
  Column& floats = add({.name = "ff", .kind = Kind::kFloat, .is_list = true});
  floats.validity = {0b111};
  floats.values.floats = {1, 2};
  floats.list_offsets = {0, 2, 2, 2};
  Column& bytes = add({.name = "bb", .kind = Kind::kBytes, .is_list = true});
  bytes.byte_offsets = {0, 1, 1, 3};
  bytes.bytes = "xyz";
  bytes.list_offsets = {0, 1, 1, 3};
  sample.shown = {"i=7 f=0.5 t=a ii=[1,300] ff=[1,2] bb=[x]",
                  "i=null f=null t=null ii=null ff=[] bb=null",
                  "i=-7 f=-2 t=ä ii=[5] ff=[] bb=[,yz]"};
  return sample;
}

}  // namespace gangrun::records
