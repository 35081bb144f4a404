#include "net/packing.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "net/compression.h"

namespace gangrun::net {

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t kBase64Group = 4;

base::Error not_packed(std::string_view why) {
  return base::invalid_argument(base::format("not packed: {}", why));
}

base::Result<Bytes> from_base64(std::string_view text) {
  if (text.size() % kBase64Group != 0) return not_packed("it is not base64");
  Bytes bytes(text.size() / kBase64Group * 3, 0);
  const int count =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (count < 0) return not_packed("it is not base64");
  // The padding is decoded as zeros.
  std::size_t padding = 0;
  while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(count) - padding);
  return bytes;
}

}  // namespace

std::string pack(std::string_view text) {
  uLongf size = ::compressBound(text.size());
  Bytes compressed(size, 0);
  const int status = ::compress(compressed.data(), &size,
                                reinterpret_cast<const Bytef*>(text.data()), text.size());
  GANGRUN_CHECK(status == Z_OK, status);  // there is room, and nothing else can go wrong
  std::string packed((size + 2) / 3 * kBase64Group + 1, '\0');  // and a final zero
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(packed.data()),
                                     compressed.data(), static_cast<int>(size));
  packed.resize(static_cast<std::size_t>(length));
  return packed;
}

base::Result<std::string> unpack(std::string_view packed, std::size_t max_bytes) {
  GANGRUN_ASSIGN(const Bytes compressed, from_base64(packed));
  std::string text;
  bool too_large = false;
  Inflater inflater;
  const auto taken =
      inflater.put({reinterpret_cast<const char*>(compressed.data()), compressed.size()},
                   [&](std::string_view piece) -> base::Result<> {
                     text.append(piece);
                     if (text.size() <= max_bytes) return {};
                     too_large = true;
                     return base::Error{base::Code::kResourceExhausted,
                                        base::format("packed: more than {} bytes", max_bytes)};
                   });
  if (too_large) return taken.error();
  if (!taken.ok() || !inflater.done()) return not_packed("zlib cannot read it");
  return text;
}

}  // namespace gangrun::net
