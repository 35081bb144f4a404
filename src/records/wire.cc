#include "records/wire.h"

namespace gangrun::records {

namespace {

constexpr unsigned kMaxVarintBits = 64;

}  // namespace

bool WireReader::varint(std::uint64_t& value) {
  value = 0;
  std::size_t at = 0;
  for (unsigned shift = 0; shift < kMaxVarintBits && at < bytes_.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes_[at++]);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) {
      bytes_.remove_prefix(at);
      return true;
    }
  }
  return false;
}

bool WireReader::take(std::uint64_t size, std::string_view& taken) {
  if (size > bytes_.size()) return false;
  taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

bool WireReader::next(WireField& field) {
  const std::string_view before = bytes_;
  std::uint64_t tag = 0;
  bool good = varint(tag) && tag >> 3 != 0 && tag >> 3 < (std::uint64_t{1} << 29);
  if (good) {
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.type = static_cast<WireType>(tag & 7);
    std::uint64_t size = 0;
    switch (field.type) {
      case WireType::kVarint: good = varint(field.varint); break;
      case WireType::kFixed64: good = take(sizeof(std::uint64_t), field.bytes); break;
      case WireType::kFixed32: good = take(sizeof(std::uint32_t), field.bytes); break;
      case WireType::kBytes: good = varint(size) && take(size, field.bytes); break;
      default: good = false;
    }
  }
  if (!good) bytes_ = before;
  return good;
}

char* put_varint(char* at, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

}  // namespace gangrun::records
