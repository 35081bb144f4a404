// A container's log with its times, however its bytes are split.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kubernetes/log_stream.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

std::vector<std::pair<std::string, std::string>> read(std::string_view bytes, std::size_t size) {
  std::vector<std::pair<std::string, std::string>> out;
  kubernetes::LogLines lines;
  const kubernetes::LogLines::OnLine on_line = [&](std::string_view time, std::string_view text) {
    GANGRUN_CHECK(text.find('\n') == std::string_view::npos, text);
    out.emplace_back(time, text);
    return true;
  };
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    GANGRUN_CHECK(lines.put(bytes.substr(0, size), on_line), size);
  }
  lines.finish(on_line);
  return out;
}

}  // namespace

// The first byte is the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const std::string_view bytes = input.substr(1);
  GANGRUN_CHECK(read(bytes, 1U + data[0]) == read(bytes, bytes.size() + 1), bytes);
  return 0;
}
