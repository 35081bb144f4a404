#include "records/framing.h"

#include <bit>
#include <cstring>

#include "base/format.h"
#include "records/crc32c.h"

namespace gangrun::records {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");

constexpr std::size_t kLengthBytes = 8;

template <typename Number>
Number number_at(const char* at) {
  Number number{};
  std::memcpy(&number, at, sizeof number);
  return number;
}

void put(char* at, std::uint32_t number) { std::memcpy(at, &number, sizeof number); }

bool is_length_good(std::string_view header) {
  return masked(crc32c(header.substr(0, kLengthBytes))) ==
         number_at<std::uint32_t>(header.data() + kLengthBytes);
}

base::Error damaged(std::string message) {
  return {.code = base::Code::kDataLoss, .message = std::move(message)};
}

}  // namespace

base::Result<Frame> next_frame(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return Frame{.size = kHeaderBytes};
  if (!is_length_good(bytes)) return damaged("the CRC of the length is wrong");
  const auto length = number_at<std::uint64_t>(bytes.data());
  if (length > kMaxRecordBytes) {
    return damaged(
        base::format("a record of {} bytes; allowed: at most {}", length, kMaxRecordBytes));
  }
  const std::size_t size = kHeaderBytes + length + kFooterBytes;
  if (bytes.size() < size) return Frame{.size = size};
  const std::string_view data = bytes.substr(kHeaderBytes, length);
  if (masked(crc32c(data)) != number_at<std::uint32_t>(data.data() + length)) {
    return damaged("the CRC of the data is wrong");
  }
  return Frame{.data = data, .size = size};
}

bool begins_with_a_record(std::string_view bytes) {
  return bytes.size() >= kHeaderBytes && is_length_good(bytes);
}

void seal_frame(char* frame, std::size_t data_size) {
  const std::uint64_t length = data_size;
  std::memcpy(frame, &length, sizeof length);
  put(frame + kLengthBytes, masked(crc32c({frame, kLengthBytes})));
  char* data = frame + kHeaderBytes;
  put(data + data_size, masked(crc32c({data, data_size})));
}

}  // namespace gangrun::records
