#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace gangrun::base {

// As many values (numbers, texts, lists, objects and all in them) one document may have: two bytes
// of text may be a value, which takes up to a hundred bytes of memory. What is left out is not
// counted.
inline constexpr std::size_t kMaxJsonValues = 2'000'000;

// Whether the member `key` of an object is left out with all that is in it. `depth` is 1 for the
// members of the document itself. Called for each member that is not in what is left out, in order.
using LeavesOut = std::function<bool(int depth, std::string_view key)>;

struct JsonRead {
  Json document;
  std::size_t values = 0;
};

// Reads a document in a time that is proportional to its length, whatever is in it. (The library's
// own reader compares each key with all others of its object, and looks through a list again for
// each object in it, if something may be left out.) Of members with the same name the last one
// counts. kInvalidArgument: it is not JSON, or too deep; kResourceExhausted: too many values.
Result<JsonRead> read_json(std::string_view text, std::size_t max_values = kMaxJsonValues,
                           const LeavesOut& leaves_out = nullptr);

}  // namespace gangrun::base
