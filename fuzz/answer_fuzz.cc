// The answer of a server that is not ours: however a good answer is cut into parts, the same comes
// out; no body is larger than is allowed.
//
// The first byte says whether the body is wanted piece by piece (1) and whether there is none (2),
// the second how long the first part is.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/answer_internal.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

constexpr std::size_t kMaxBodyBytes = 1000;

struct Read {
  std::optional<base::Code> error;
  bool is_complete = false;
  int status = 0;
  std::string body;
  std::string pieces;

  bool operator==(const Read&) const = default;
};

Read read(std::string_view bytes, std::size_t split, std::uint8_t how) {
  Read out;
  net::AnswerOptions options{(how & 2) != 0, kMaxBodyBytes, {}, {}};
  if ((how & 1) != 0) {
    options.on_begin = [] {};
    options.on_piece = [&out](std::string_view piece) { out.pieces += piece; };
  }
  net::AnswerReader reader(std::move(options));
  for (const std::string_view part : {bytes.substr(0, split), bytes.substr(split)}) {
    const auto complete = reader.put(part);
    if (!complete.ok()) {
      out.error = complete.error().code;
      return out;
    }
    out.is_complete = *complete;
    if (*complete) break;
  }
  if (!out.is_complete) out.is_complete = reader.put_end();
  const net::HttpResponse response = reader.take();
  GANGRUN_CHECK(response.body.size() <= kMaxBodyBytes, response.body.size());
  out.status = response.status;
  out.body = response.body;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t split = data[1] % (bytes.size() + 1);
  const Read whole = read(bytes, 0, data[0]);
  const Read parts = read(bytes, split, data[0]);
  // More or less of a wrong answer may have been read before that is seen.
  if (whole.error) return 0;
  GANGRUN_CHECK(whole.is_complete == parts.is_complete, bytes.size(), split);
  GANGRUN_CHECK(!whole.is_complete || whole == parts, bytes.size(), split);
  return 0;
}
