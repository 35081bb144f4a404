#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/compression.h"

// Hadoop's TFile: keys and values in compressed blocks, with the index at the end. What YARN keeps
// the logs of one node's containers in. Pure: it is handed the bytes that it asks for.
namespace gangrun::hadoop {

// A file that is elsewhere.
class RangeReader {
 public:
  virtual ~RangeReader() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Hands on exactly `length` bytes from `offset`, in any pieces.
  virtual base::Result<> read(std::uint64_t offset, std::uint64_t length,
                              const net::ByteSink& sink) = 0;
};

// Takes the records in their order. An error ends the reading and is passed on.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual base::Result<> begin(std::string_view key) = 0;
  virtual base::Result<> value(std::string_view piece) = 0;
  virtual base::Result<> end() = 0;
};

inline constexpr std::size_t kMaxKeyBytes = std::size_t{64} * 1024;

// Whether it begins as a TFile does.
base::Result<bool> is_tfile(RangeReader& file);

// All records, one block after the other; no block is held in memory. kDataLoss where the file is
// damaged or cut off, kInvalidArgument where it is compressed in another way than "none" or "gz".
base::Result<> read_tfile(RangeReader& file, RecordSink& sink);

}  // namespace gangrun::hadoop
