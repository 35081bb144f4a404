// The file of a node's aggregated logs: it comes from HDFS, and whoever may write there may have
// written it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "hadoop/aggregated_logs.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

// A few bytes may make a very large output.
constexpr std::uint64_t kMaxLogBytes = std::uint64_t{64} << 20U;

class Memory final : public hadoop::RangeReader {
 public:
  Memory(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  base::Result<> read(std::uint64_t offset, std::uint64_t length,
                      const net::ByteSink& sink) override {
    GANGRUN_CHECK(offset <= bytes_.size() && length <= bytes_.size() - offset, offset, length);
    std::string_view rest = bytes_.substr(offset, length);
    while (!rest.empty()) {
      const std::size_t size = std::min(rest.size(), piece_);
      GANGRUN_TRY(sink(rest.substr(0, size)));
      rest.remove_prefix(size);
    }
    return {};
  }

 private:
  const std::string_view bytes_;
  const std::size_t piece_;
};

// Checks that a log has as many bytes as were announced.
class LogWatcher final : public hadoop::LogSink {
 public:
  base::Result<bool> begin(const hadoop::AggregatedLog& log) override {
    GANGRUN_CHECK(!open_, log.file);
    left_ = log.length;
    open_ = log.file != "skip";
    return open_;
  }
  base::Result<> content(std::string_view piece) override {
    GANGRUN_CHECK(open_ && piece.size() <= left_, piece.size(), left_);
    left_ -= piece.size();
    total_ += piece.size();
    if (total_ > kMaxLogBytes) return base::invalid_argument("enough");
    return {};
  }
  base::Result<> end() override {
    GANGRUN_CHECK(open_ && left_ == 0, left_);
    open_ = false;
    return {};
  }

 private:
  bool open_ = false;
  std::uint64_t left_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const std::size_t piece : {std::size_t{7}, std::size_t{1} << 20U}) {
    Memory file(input, piece);
    LogWatcher watcher;
    (void)hadoop::read_node_logs(file, "node", watcher);
  }
  return 0;
}
