#include "net/packing.h"

#include <zlib.h>

#include <optional>

#include "base/check.h"
#include "base/format.h"
#include "net/compression.h"
#include "net/digests.h"

namespace gangrun::net {

namespace {

base::Error not_packed(std::string_view why) {
  return base::invalid_argument(base::format("not packed: {}", why));
}

}  // namespace

std::string pack(std::string_view text) {
  uLongf size = ::compressBound(text.size());
  std::string compressed(size, '\0');
  const int status = ::compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
                                reinterpret_cast<const Bytef*>(text.data()), text.size());
  GANGRUN_CHECK(status == Z_OK, status);  // there is room, and nothing else can go wrong
  compressed.resize(size);
  return to_base64(compressed);
}

base::Result<std::string> unpack(std::string_view packed, std::size_t max_bytes) {
  const std::optional<std::string> compressed = from_base64(packed);
  if (!compressed) return not_packed("it is not base64");
  std::string text;
  bool too_large = false;
  Inflater inflater;
  const auto taken = inflater.put(*compressed, [&](std::string_view piece) -> base::Result<> {
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
