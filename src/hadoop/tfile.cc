#include "hadoop/tfile.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/format.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kMagic{
    "\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16};
constexpr std::size_t kTFileTrailerBytes = 8 + 4 + 16;  // offset of the index, version, magic
constexpr int kVersion = 1;
// The index is small; one read of the end usually has all of it.
constexpr std::uint64_t kTailBytes = std::uint64_t{64} * 1024;
constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{16} << 20U;
constexpr std::string_view kBlockIndex = "data:BCFile.index";

base::Error damaged_file(std::string_view why) {
  return {base::Code::kDataLoss, base::format("the TFile is damaged: {}", why)};
}

int signed_byte(char c) { return static_cast<signed char>(c); }

// How many bytes follow the first one of an integer; none where no integer begins so.
std::optional<std::size_t> more_bytes(char first) {
  const int byte = signed_byte(first);
  if (byte >= -32) return 0;
  if (byte >= -72) return 1;
  if (byte >= -104) return 2;
  if (byte >= -120) return 3;
  if (byte >= -125) return static_cast<std::size_t>(byte + 129);
  return std::nullopt;
}

std::int64_t decode_integer(std::string_view bytes) {
  const int first = signed_byte(bytes[0]);
  std::int64_t out = 0;
  switch (bytes.size()) {
    case 1: return first;
    case 2: out = first + 52; break;
    case 3: out = first + 88; break;
    case 4: out = first + 112; break;
    default: out = signed_byte(bytes[1]) < 0 ? -1 : 0; break;
  }
  for (const char c : bytes.substr(1)) {
    out = static_cast<std::int64_t>(static_cast<std::uint64_t>(out) << 8U |
                                    static_cast<unsigned char>(c));
  }
  return out;
}

// Reads an index, which is there as a whole.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  base::Result<std::int64_t> integer() {
    const auto more = text_.empty() ? std::nullopt : more_bytes(text_[0]);
    if (!more || text_.size() < *more + 1)
      return damaged_file("an integer of the index is cut off");
    const std::int64_t out = decode_integer(text_.substr(0, *more + 1));
    text_.remove_prefix(*more + 1);
    return out;
  }

  base::Result<std::string> string() {
    GANGRUN_ASSIGN(const std::int64_t length, integer());
    if (length < 0 || static_cast<std::uint64_t>(length) > text_.size()) {
      return damaged_file("a name of the index is cut off");
    }
    std::string out(text_.substr(0, static_cast<std::size_t>(length)));
    text_.remove_prefix(out.size());
    return out;
  }

 private:
  std::string_view text_;
};

struct Region {
  std::uint64_t offset = 0;
  std::uint64_t packed = 0;
  std::uint64_t raw = 0;
};

enum class Compression { kNone, kZlib };

base::Result<Compression> compression_of(const std::string& name) {
  if (name == "none") return Compression::kNone;
  if (name == "gz") return Compression::kZlib;
  return base::invalid_argument(
      base::format("the TFile is compressed by \"{}\"; only \"none\" and \"gz\" are known", name));
}

base::Result<Region> read_region(TextReader& reader, std::uint64_t file_bytes) {
  std::array<std::int64_t, 3> numbers{};
  for (std::int64_t& number : numbers) {
    GANGRUN_ASSIGN(number, reader.integer());
    if (number < 0) return damaged_file("a block of the index has a negative place");
  }
  const Region out{static_cast<std::uint64_t>(numbers[0]), static_cast<std::uint64_t>(numbers[1]),
                   static_cast<std::uint64_t>(numbers[2])};
  if (out.offset > file_bytes || out.packed > file_bytes - out.offset) {
    return damaged_file("a block of the index lies behind the end of the file");
  }
  return out;
}

// Hands on a block as it was before it was compressed.
base::Result<> unpack_block(RangeReader& file, const Region& region, Compression compression,
                            const net::ByteSink& sink) {
  std::uint64_t seen = 0;
  const net::ByteSink counting = [&](std::string_view piece) -> base::Result<> {
    seen += piece.size();
    if (seen > region.raw) return damaged_file("a block is longer than its index says");
    return sink(piece);
  };
  if (compression == Compression::kNone) {
    GANGRUN_TRY(file.read(region.offset, region.packed, counting));
  } else {
    net::Inflater inflater;
    GANGRUN_TRY(file.read(
        region.offset, region.packed,
        [&](std::string_view piece) -> base::Result<> { return inflater.put(piece, counting); }));
    if (!inflater.done()) return damaged_file("a block is cut off");
  }
  if (seen != region.raw) return damaged_file("a block is shorter than its index says");
  return {};
}

base::Result<std::string> read_text(RangeReader& file, std::uint64_t offset, std::uint64_t length) {
  std::string out;
  GANGRUN_TRY(file.read(offset, length, net::append_to(out)));
  if (out.size() != length) return damaged_file("it is shorter than was said");
  return out;
}

// A file whose end has been read already.
class WithTail final : public RangeReader {
 public:
  explicit WithTail(RangeReader& file) : file_(file) {}

  base::Result<> load() {
    start_ = file_.size() - std::min(file_.size(), kTailBytes);
    GANGRUN_ASSIGN(tail_, read_text(file_, start_, file_.size() - start_));
    return {};
  }
  [[nodiscard]] std::uint64_t size() const override { return file_.size(); }
  base::Result<> read(std::uint64_t offset, std::uint64_t length,
                      const net::ByteSink& sink) override {
    if (length == 0) return {};
    if (offset < start_) return file_.read(offset, length, sink);
    return sink(std::string_view(tail_).substr(offset - start_, length));
  }

 private:
  RangeReader& file_;
  std::uint64_t start_ = 0;
  std::string tail_;
};

struct Index {
  Compression compression = Compression::kNone;
  std::vector<Region> blocks;
};

base::Result<std::string> unpack_index(RangeReader& file, const Region& region,
                                       Compression compression) {
  if (region.packed > kMaxIndexBytes || region.raw > kMaxIndexBytes) {
    return damaged_file("its index is too large");
  }
  std::string out;
  GANGRUN_TRY(unpack_block(file, region, compression, net::append_to(out)));
  return out;
}

base::Result<Index> parse_index(std::string_view text, std::uint64_t file_bytes) {
  TextReader reader(text);
  Index out;
  GANGRUN_ASSIGN(const std::string method, reader.string());
  GANGRUN_ASSIGN(out.compression, compression_of(method));
  GANGRUN_ASSIGN(const std::int64_t count, reader.integer());
  if (count < 0) return damaged_file("it has fewer than no blocks");
  for (std::int64_t i = 0; i < count; ++i) {
    GANGRUN_ASSIGN(const Region block, read_region(reader, file_bytes));
    out.blocks.push_back(block);
  }
  return out;
}

// The offset at which the list of the special blocks begins, as the end of the file tells it.
base::Result<std::uint64_t> parse_trailer(std::string_view trailer) {
  if (!trailer.ends_with(kMagic)) return damaged_file("its end is not a TFile's");
  const int version = signed_byte(trailer[8]) * 256 + static_cast<unsigned char>(trailer[9]);
  if (version != kVersion) {
    return base::invalid_argument(base::format("TFiles of version {} are not known", version));
  }
  std::uint64_t out = 0;
  for (const char c : trailer.substr(0, 8)) out = out << 8U | static_cast<unsigned char>(c);
  return out;
}

base::Result<Index> read_index(RangeReader& file) {
  const std::uint64_t size = file.size();
  if (size < kMagic.size() + kTFileTrailerBytes) return damaged_file("it is too short");
  const std::uint64_t end = size - kTFileTrailerBytes;
  GANGRUN_ASSIGN(const std::string trailer, read_text(file, end, kTFileTrailerBytes));
  GANGRUN_ASSIGN(const std::uint64_t offset, parse_trailer(trailer));
  if (offset > end || end - offset > kMaxIndexBytes) return damaged_file("its index has no place");
  GANGRUN_ASSIGN(const std::string text, read_text(file, offset, end - offset));
  TextReader reader(text);
  GANGRUN_ASSIGN(const std::int64_t count, reader.integer());
  for (std::int64_t i = 0; i < count; ++i) {
    GANGRUN_ASSIGN(const std::string name, reader.string());
    GANGRUN_ASSIGN(const std::string method, reader.string());
    GANGRUN_ASSIGN(const Region region, read_region(reader, size));
    if (name != kBlockIndex) continue;
    GANGRUN_ASSIGN(const Compression compression, compression_of(method));
    GANGRUN_ASSIGN(const std::string blocks, unpack_index(file, region, compression));
    return parse_index(blocks, size);
  }
  return damaged_file("it has no index of its blocks");
}

// Takes the bytes of a block apart into records. A value comes in chunks; the last one's length is
// not negative.
class RecordParser {
 public:
  explicit RecordParser(RecordSink& sink) : sink_(sink) {}

  base::Result<> put(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t before = bytes.size();
      switch (state_) {
        case State::kKeyLength: GANGRUN_TRY(take_key_length(bytes)); break;
        case State::kKey: GANGRUN_TRY(take_key(bytes)); break;
        case State::kChunkLength: GANGRUN_TRY(take_chunk_length(bytes)); break;
        case State::kChunk: GANGRUN_TRY(take_chunk(bytes)); break;
      }
      if (bytes.size() == before) return damaged_file("a record makes no sense");
    }
    return {};
  }

  [[nodiscard]] bool between_records() const {
    return state_ == State::kKeyLength && integer_.empty();
  }

 private:
  enum class State { kKeyLength, kKey, kChunkLength, kChunk };

  // The next integer when its last byte has come.
  base::Result<std::optional<std::int64_t>> take_integer(std::string_view& bytes) {
    while (!bytes.empty()) {
      integer_ += bytes.front();
      bytes.remove_prefix(1);
      const auto more = more_bytes(integer_.front());
      if (!more) return damaged_file("a length of a record makes no sense");
      if (integer_.size() < *more + 1) continue;
      const std::int64_t out = decode_integer(integer_);
      integer_.clear();
      return std::optional<std::int64_t>(out);
    }
    return std::optional<std::int64_t>();
  }

  base::Result<> take_key_length(std::string_view& bytes) {
    GANGRUN_ASSIGN(const auto length, take_integer(bytes));
    if (!length) return {};
    if (*length < 0 || static_cast<std::uint64_t>(*length) > kMaxKeyBytes) {
      return damaged_file("a key's length makes no sense");
    }
    left_ = static_cast<std::uint64_t>(*length);
    key_.clear();
    state_ = State::kKey;
    return left_ == 0 ? key_complete() : base::Result<>();
  }

  base::Result<> take_key(std::string_view& bytes) {
    const std::size_t size = std::min<std::uint64_t>(left_, bytes.size());
    key_ += bytes.substr(0, size);
    bytes.remove_prefix(size);
    left_ -= size;
    return left_ == 0 ? key_complete() : base::Result<>();
  }

  base::Result<> key_complete() {
    state_ = State::kChunkLength;
    return sink_.begin(key_);
  }

  base::Result<> take_chunk_length(std::string_view& bytes) {
    GANGRUN_ASSIGN(const auto length, take_integer(bytes));
    if (!length) return {};
    last_ = *length >= 0;
    left_ = last_ ? static_cast<std::uint64_t>(*length)
                  : std::uint64_t{0} - static_cast<std::uint64_t>(*length);
    state_ = State::kChunk;
    return left_ == 0 ? chunk_complete() : base::Result<>();
  }

  base::Result<> take_chunk(std::string_view& bytes) {
    const std::size_t size = std::min<std::uint64_t>(left_, bytes.size());
    GANGRUN_TRY(sink_.value(bytes.substr(0, size)));
    bytes.remove_prefix(size);
    left_ -= size;
    return left_ == 0 ? chunk_complete() : base::Result<>();
  }

  base::Result<> chunk_complete() {
    state_ = last_ ? State::kKeyLength : State::kChunkLength;
    return last_ ? sink_.end() : base::Result<>();
  }

  RecordSink& sink_;
  State state_ = State::kKeyLength;
  std::string integer_;  // the beginning of one
  std::string key_;
  std::uint64_t left_ = 0;
  bool last_ = false;
};

}  // namespace

base::Result<bool> is_tfile(RangeReader& file) {
  if (file.size() < kMagic.size()) return false;
  GANGRUN_ASSIGN(const std::string head, read_text(file, 0, kMagic.size()));
  return head == kMagic;
}

base::Result<> read_tfile(RangeReader& file, RecordSink& sink) {
  WithTail tailed(file);
  GANGRUN_TRY(tailed.load());
  GANGRUN_ASSIGN(const Index index, read_index(tailed));
  for (const Region& block : index.blocks) {
    RecordParser parser(sink);
    GANGRUN_TRY(unpack_block(tailed, block, index.compression,
                             [&](std::string_view piece) { return parser.put(piece); }));
    if (!parser.between_records()) return damaged_file("a record is cut off");
  }
  return {};
}

}  // namespace gangrun::hadoop
