#include "net/packing.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"

namespace gangrun::net {

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t kBase64Group = 4;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

base::Error not_packed(std::string_view why) {
  return base::invalid_argument(base::format("not packed: {}", why));
}

// zlib's decompressor; it wants its object to stay where it is.
class Inflater {
 public:
  Inflater() { GANGRUN_CHECK(::inflateInit(&stream_) == Z_OK, "no memory"); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  base::Result<std::string> run(Bytes compressed, std::size_t max_bytes) {
    stream_.next_in = compressed.data();
    stream_.avail_in = static_cast<uInt>(compressed.size());
    std::string text;
    Bytes piece(kPieceBytes);
    int status = Z_OK;
    while (status == Z_OK) {
      stream_.next_out = piece.data();
      stream_.avail_out = static_cast<uInt>(piece.size());
      status = ::inflate(&stream_, Z_NO_FLUSH);
      text.append(piece.begin(), piece.end() - stream_.avail_out);
      if (text.size() > max_bytes) {
        return base::Error{base::Code::kResourceExhausted,
                           base::format("packed: more than {} bytes", max_bytes)};
      }
    }
    if (status != Z_STREAM_END || stream_.avail_in != 0) return not_packed("zlib cannot read it");
    return text;
  }

 private:
  z_stream stream_{};
};

base::Result<Bytes> from_base64(std::string_view text) {
  if (text.size() % kBase64Group != 0) return not_packed("it is no base64");
  Bytes bytes(text.size() / kBase64Group * 3, 0);
  const int count =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (count < 0) return not_packed("it is no base64");
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
  GANGRUN_ASSIGN(Bytes compressed, from_base64(packed));
  return Inflater().run(std::move(compressed), max_bytes);
}

}  // namespace gangrun::net
