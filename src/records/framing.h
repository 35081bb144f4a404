#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace gangrun::records {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kFooterBytes = 4;
// The size of one record; more is taken for a damaged file. Batches count in 32 bits, as Arrow
// does.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 30;

struct Frame {
  std::optional<std::string_view> data = {};  // none: the bytes end before the record does
  std::size_t size = 0;  // of the frame; without data, of what can be told of it already
};

// The record that `bytes` begin with. kDataLoss: a checksum or the length is wrong.
base::Result<Frame> next_frame(std::string_view bytes);

// Whether `bytes`, the first ones of a file, are the head of a record.
bool begins_with_a_record(std::string_view bytes);

// Puts head and foot around the data that stands between them at `frame`, `data_size` bytes long.
void seal_frame(char* frame, std::size_t data_size);

}  // namespace gangrun::records
