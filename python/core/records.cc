#include "records.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "buffers.h"
#include "errors.h"
#include "interpreter.h"
#include "records/decoder.h"
#include "records/encoder.h"
#include "records/framing.h"

namespace gangrun::core {

namespace {

namespace nb = nanobind;
using records::Column;
using records::ColumnView;
using records::Field;
using records::Kind;

// Owned by the module, which is never unloaded.
PyObject* bad_record = nullptr;

template <typename T>
T value_or_bad(base::Result<T>&& result) {
  if (!result.ok()) {
    PyErr_SetString(bad_record, result.error().message.c_str());
    nb::raise_python_error();
  }
  return *std::move(result);
}

[[noreturn]] void refuse(const char* what) {
  PyErr_SetString(PyExc_ValueError, what);
  nb::raise_python_error();
}

// (name, "int64", "float", "bytes" or "text", whether of lists)
std::vector<Field> fields_of(nb::handle given) {
  std::vector<Field> fields;
  for (const nb::handle one : given) {
    const auto kind = nb::cast<std::string>(one[1]);
    Field field{.name = nb::cast<std::string>(one[0]), .is_list = nb::cast<bool>(one[2])};
    if (kind == "int64") {
      field.kind = Kind::kInt64;
    } else if (kind == "float") {
      field.kind = Kind::kFloat;
    } else if (kind == "bytes" || kind == "text") {
      field.kind = Kind::kBytes;
      field.is_text = kind == "text";
    } else {
      refuse("a field's kind is 'int64', 'float', 'bytes' or 'text'");
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

// Memory of ours for Python, which lives as long as somebody looks at it. Arrow takes no null
// pointer even for no bytes.
nb::object lend(const std::shared_ptr<void>& hold, const void* data, std::size_t size) {
  static std::uint64_t nothing = 0;
  auto* bytes = static_cast<char*>(size == 0 ? &nothing : const_cast<void*>(data));  // NOLINT
  return nb::cast(Room{.bytes = {bytes, size}, .hold = hold});
}

template <typename T>
nb::object lend(const std::shared_ptr<void>& hold, const std::vector<T>& values) {
  return lend(hold, values.data(), values.size() * sizeof(T));
}

// (nulls, validity, offsets of lists or None, number of items, values, offsets of bytes or None)
nb::object lend_column(const Field& field, Column&& given) {
  const auto column = std::make_shared<Column>(std::move(given));
  const bool is_bytes = field.kind == Kind::kBytes;
  const auto items = is_bytes ? column->byte_offsets.size() - 1 : column->values.size(field.kind);
  const nb::object values = is_bytes ? lend(column, column->bytes.data(), column->bytes.size())
                            : field.kind == Kind::kFloat ? lend(column, column->values.floats)
                                                         : lend(column, column->values.integers);
  return nb::make_tuple(column->nulls, lend(column, column->validity),
                        field.is_list ? lend(column, column->list_offsets) : nb::none(), items,
                        values, is_bytes ? lend(column, column->byte_offsets) : nb::none());
}

class RecordDecoder {
 public:
  RecordDecoder(nb::handle fields, std::string file, bool ignores_others, std::size_t max_rows,
                std::size_t max_bytes)
      : decoder_(fields_of(fields), {.file = std::move(file),
                                     .ignores_others = ignores_others,
                                     .max_rows = max_rows,
                                     .max_bytes = max_bytes}) {}

  std::size_t take(nb::handle data) {
    const Bytes bytes(data);
    auto taken = [&] {
      const Released released;
      return decoder_.take(bytes.view());
    }();
    return value_or_bad(std::move(taken));
  }

  void end(nb::handle data) {
    const Bytes bytes(data);
    if (const auto ended = decoder_.end(bytes.view()); !ended.ok()) {
      value_or_bad(base::Result<bool>(ended.error()));
    }
  }

  nb::list take_batch() {
    nb::list made;
    auto columns = decoder_.take_batch();
    for (std::size_t place = 0; place < columns.size(); ++place) {
      made.append(lend_column(decoder_.fields()[place], std::move(columns[place])));
    }
    return made;
  }

  [[nodiscard]] std::size_t rows() const { return decoder_.rows(); }
  [[nodiscard]] std::size_t wanted() const { return decoder_.wanted(); }
  [[nodiscard]] bool is_full() const { return decoder_.is_full(); }

 private:
  records::Decoder decoder_;
};

// The buffers of columns, held while somebody reads them.
class Columns {
 public:
  explicit Columns(const std::vector<Field>& fields, nb::handle given) {
    std::size_t place = 0;
    for (const nb::handle one : given) {
      if (place == fields.size()) refuse("more columns than fields");
      views_.push_back(view(fields[place++], one));
    }
  }

  [[nodiscard]] const std::vector<ColumnView>& views() const { return views_; }

 private:
  template <typename T>
  std::span<const T> span(nb::handle buffer) {
    if (buffer.is_none()) return {};
    const std::string_view bytes = hold(buffer);
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0) {
      refuse("a buffer of a column is not aligned");
    }
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  std::string_view hold(nb::handle buffer) {
    if (buffer.is_none()) return {};
    held_.push_back(std::make_unique<Bytes>(buffer));
    return held_.back()->view();
  }

  // (validity, offsets of lists, validity of items, values, offsets of bytes, number of the first
  // row, of the first item); None where there is none
  ColumnView view(const Field& field, nb::handle one) {
    ColumnView made{.validity = span<std::uint8_t>(one[0]),
                    .list_offsets = span<std::int32_t>(one[1]),
                    .item_validity = span<std::uint8_t>(one[2])};
    switch (field.kind) {
      case Kind::kInt64: made.integers = span<std::int64_t>(one[3]); break;
      case Kind::kFloat: made.floats = span<float>(one[3]); break;
      case Kind::kBytes:
        made.bytes = hold(one[3]);
        made.byte_offsets = span<std::int32_t>(one[4]);
        break;
    }
    made.row_offset = nb::cast<std::size_t>(one[5]);
    made.item_offset = nb::cast<std::size_t>(one[6]);
    return made;
  }

  std::vector<std::unique_ptr<Bytes>> held_;
  std::vector<ColumnView> views_;
};

class RecordLines {
 public:
  explicit RecordLines(nb::handle fields) : fields_(fields_of(fields)), lines_(fields_) {}

  nb::object add(nb::handle columns, std::size_t begin, std::size_t end, std::size_t line_bytes) {
    const Columns held(fields_, columns);
    auto made = [&] {
      const Released released;
      return lines_.add(held.views(), begin, end, line_bytes);
    }();
    return lend_lines(value_or_bad(std::move(made)));
  }

  nb::object end(std::size_t line_bytes) {
    return lend_lines(value_or_bad(lines_.end(line_bytes)));
  }

 private:
  static nb::object lend_lines(records::ZeroEndedLines::Lines&& lines) {
    const auto bytes = std::make_shared<std::string>(std::move(lines.bytes));
    return nb::make_tuple(lend(bytes, bytes->data(), bytes->size()), lines.places);
  }

  std::vector<Field> fields_;
  records::ZeroEndedLines lines_;
};

nb::bytes bytes_of(std::string_view bytes) { return nb::bytes(bytes.data(), bytes.size()); }

nb::list encode_examples(nb::handle fields, nb::handle columns, std::size_t begin,
                         std::size_t end) {
  const std::vector<Field> given = fields_of(fields);
  const Columns held(given, columns);
  std::string file;
  value_or_bad(records::encode(given, held.views(), begin, end, file));
  nb::list made;
  for (std::string_view rest = file; !rest.empty();) {
    const auto frame = value_or_bad(records::next_frame(rest));
    made.append(bytes_of(frame.data.value_or("")));
    rest.remove_prefix(frame.size);
  }
  return made;
}

// Finds the whole records in these bytes, and the length of the next one.
nb::object record_places(nb::handle data, std::size_t most) {
  const Bytes bytes(data);
  std::vector<std::pair<std::size_t, std::size_t>> places;
  std::size_t begin = 0;
  std::size_t wanted = 0;
  while (places.size() < most) {
    const auto frame =
        value_or_bad(records::next_frame(bytes.view().substr(begin))
                         .context(base::format("record {}, at byte {}", places.size(), begin)));
    wanted = frame.size;
    if (!frame.data.has_value()) break;
    const std::size_t data_at = begin + records::kHeaderBytes;
    places.emplace_back(data_at, data_at + frame.data->size());
    begin += frame.size;
  }
  return nb::make_tuple(places, begin, wanted);
}

nb::object name_of(std::string_view name) {
  return nb::steal(
      PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "backslashreplace"));
}

nb::dict example_features(nb::handle example) {
  const Bytes bytes(example);
  std::vector<records::RawFeature> features;
  if (const auto split = records::split_example(bytes.view(), features); !split.ok()) {
    value_or_bad(base::Result<bool>(split.error()));
  }
  nb::dict made;
  for (const records::RawFeature& feature : features) {
    records::Values values;
    const std::optional<Kind> kind = value_or_bad(records::read_feature(feature.values, values));
    nb::list items;
    for (const std::int64_t value : values.integers) items.append(value);
    for (const float value : values.floats) items.append(static_cast<double>(value));
    for (const std::string_view value : values.bytes) items.append(bytes_of(value));
    const nb::object kind_name =
        kind.has_value() ? nb::cast(std::string(records::to_string(*kind))) : nb::none();
    made[name_of(feature.name)] = nb::make_tuple(kind_name, items);
  }
  return made;
}

}  // namespace

void add_records(nb::module_& module) {
  bad_record = PyErr_NewException("gangrun._core.BadRecord", PyExc_ValueError, nullptr);
  if (bad_record == nullptr) nb::raise_python_error();
  module.attr("BadRecord") = nb::borrow(bad_record);
  nb::class_<RecordDecoder>(module, "RecordDecoder")
      .def(nb::init<nb::handle, std::string, bool, std::size_t, std::size_t>(), nb::arg("fields"),
           nb::arg("file"), nb::arg("ignores_others"), nb::arg("max_rows"), nb::arg("max_bytes"))
      .def("take", &RecordDecoder::take, nb::arg("data"))
      .def("end", &RecordDecoder::end, nb::arg("data"))
      .def("take_batch", &RecordDecoder::take_batch)
      .def_prop_ro("rows", &RecordDecoder::rows)
      .def_prop_ro("wanted", &RecordDecoder::wanted)
      .def_prop_ro("is_full", &RecordDecoder::is_full);
  nb::class_<RecordLines>(module, "RecordLines")
      .def(nb::init<nb::handle>(), nb::arg("fields"))
      .def("add", &RecordLines::add, nb::arg("columns"), nb::arg("begin"), nb::arg("end"),
           nb::arg("line_bytes"))
      .def("end", &RecordLines::end, nb::arg("line_bytes"));
  module.def("encode_examples", encode_examples, nb::arg("fields"), nb::arg("columns"),
             nb::arg("begin"), nb::arg("end"));
  module.def("record_places", record_places, nb::arg("data"), nb::arg("most"));
  module.def("example_features", example_features, nb::arg("example"));
  module.def(
      "begins_with_a_record",
      [](nb::handle data) {
        const Bytes bytes(data);
        return records::begins_with_a_record(bytes.view());
      },
      nb::arg("data"));
}

}  // namespace gangrun::core
