#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::records {

// The kind of the values of a feature; numbered as the fields of the message are.
enum class Kind : std::uint8_t { kBytes = 1, kFloat = 2, kInt64 = 3 };

// "bytes", "float" or "int64".
std::string_view to_string(Kind kind);

// A feature of an example, as it lies in the bytes: its name and the message with the values.
struct RawFeature {
  std::string_view name;
  std::string_view values;
};

// The features of the message Example, in their order; where a name comes again, the last is meant.
// `out` is emptied first, and is the caller's so that its memory serves for all records.
base::Result<> split_example(std::string_view example, std::vector<RawFeature>& out);

// The values of one feature behind those that are there already.
struct Values {
  std::vector<std::int64_t> integers;
  std::vector<float> floats;
  std::vector<std::string_view> bytes;  // inside of the example

  [[nodiscard]] std::size_t size(Kind kind) const;
  void cut(Kind kind, std::size_t size);
};

// Reads a feature's message to the end of `out`; none: it has no values of any kind, not even an
// empty list. Where it has lists of several kinds, the last counts.
base::Result<std::optional<Kind>> read_feature(std::string_view feature, Values& out);

}  // namespace gangrun::records
