#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hadoop/tfile.h"
#include "net/compression.h"

namespace gangrun::hadoop {

// A file in memory that hands itself on in small pieces.
class MemoryFile final : public RangeReader {
 public:
  explicit MemoryFile(std::string bytes, std::size_t piece = std::size_t{1} << 20U)
      : bytes_(std::move(bytes)), piece_(piece) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  base::Result<> read(std::uint64_t offset, std::uint64_t length,
                      const net::ByteSink& sink) override {
    std::string_view rest = std::string_view(bytes_).substr(offset, length);
    while (!rest.empty()) {
      const std::size_t size = std::min(rest.size(), piece_);
      GANGRUN_TRY(sink(rest.substr(0, size)));
      rest.remove_prefix(size);
    }
    return {};
  }

 private:
  const std::string bytes_;
  const std::size_t piece_;
};

// Writes TFiles for tests, as Hadoop does but without the parts that no reader of ours looks at.
class TFileWriter {
 public:
  explicit TFileWriter(std::string compression) : compression_(std::move(compression)) {}

  // The last chunk may be empty.
  void record(std::string_view key, const std::vector<std::string>& chunks) {
    block_ += integer(static_cast<std::int64_t>(key.size())) + std::string(key);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const auto size = static_cast<std::int64_t>(chunks[i].size());
      block_ += integer(i + 1 == chunks.size() ? size : -size) + chunks[i];
    }
  }

  void end_block() {
    regions_ += append(std::exchange(block_, {}));
    ++blocks_;
  }

  std::string finish() {
    if (!block_.empty()) end_block();
    const std::string index = text(compression_) + integer(blocks_) + regions_;
    const std::string entry = text("data:BCFile.index") + text(compression_) + append(index);
    const std::uint64_t offset = file_.size();
    file_ += integer(1) + entry;
    for (int shift = 56; shift >= 0; shift -= 8) {
      file_ += static_cast<char>(offset >> static_cast<unsigned>(shift));
    }
    return file_ + std::string("\0\1\0\0", 4) + kMagic;
  }

  static std::string integer(std::int64_t value) {
    if (value >= -32 && value < 128) return std::string(1, static_cast<char>(value));
    for (const auto& [bytes, limit, base] :
         {Width{1, 20, -52}, Width{2, 16, -88}, Width{3, 8, -112}}) {
      const std::int64_t high = value >> (8 * bytes);
      if (high >= -limit && high < limit) return tail(static_cast<int>(high) + base, value, bytes);
    }
    return tail(-125, value, 4);
  }

 private:
  struct Width {
    int bytes;
    std::int64_t limit;
    int base;
  };

  static std::string tail(int first, std::int64_t value, int bytes) {
    std::string out(1, static_cast<char>(first));
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
    return out;
  }

  static std::string text(const std::string& value) {
    return integer(static_cast<std::int64_t>(value.size())) + value;
  }

  // Puts a block into the file; returns its place as an index has it.
  std::string append(const std::string& raw) {
    std::string packed;
    if (compression_ == "gz") {
      net::Gzip gzip([&packed](std::string_view piece) -> base::Result<> {
        packed += piece;
        return {};
      });
      (void)gzip.put(raw);
      (void)gzip.finish();
    } else {
      packed = raw;
    }
    const auto place = integer(static_cast<std::int64_t>(file_.size())) +
                       integer(static_cast<std::int64_t>(packed.size())) +
                       integer(static_cast<std::int64_t>(raw.size()));
    file_ += packed;
    return place;
  }

  const std::string kMagic{"\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16};
  const std::string compression_;
  std::string file_ = kMagic;
  std::string block_;
  std::string regions_;
  std::int64_t blocks_ = 0;
};

// A key or text as Java's DataOutput writes it: two bytes of length before it.
inline std::string java_text(std::string_view value) {
  std::string out{static_cast<char>(value.size() >> 8U), static_cast<char>(value.size())};
  return out.append(value);
}

}  // namespace gangrun::hadoop
