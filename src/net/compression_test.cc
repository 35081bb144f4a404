#include "net/compression.h"

#include <gtest/gtest.h>

namespace gangrun::net {
namespace {

std::string gzip(std::string_view bytes, std::size_t piece = 1'000'000) {
  std::string out;
  Gzip writer([&](std::string_view text) -> base::Result<> {
    out += text;
    return {};
  });
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    EXPECT_TRUE(writer.put(bytes.substr(at, piece)).ok());
  }
  EXPECT_TRUE(writer.finish().ok());
  return out;
}

base::Result<std::string> inflate(std::string_view packed, std::size_t piece) {
  std::string out;
  Inflater reader;
  const ByteSink sink = [&](std::string_view text) -> base::Result<> {
    out += text;
    return {};
  };
  for (std::size_t at = 0; at < packed.size(); at += piece) {
    GANGRUN_TRY(reader.put(packed.substr(at, piece), sink));
  }
  if (!reader.done()) return base::Error{base::Code::kDataLoss, "cut off"};
  return out;
}

std::string sample() {
  std::string out;
  for (int i = 0; i < 100'000; ++i) out += std::to_string(i * 7919 % 1000) + "\n";
  return out;
}

TEST(Compression, ComesBackWhateverThePieces) {
  const std::string text = sample();
  for (const std::size_t piece : {1U, 1000U, 1'000'000U}) {
    const std::string packed = gzip(text, piece == 1 ? 997 : piece);
    EXPECT_LT(packed.size(), text.size() / 2);
    EXPECT_EQ(*inflate(packed, piece), text);
  }
  EXPECT_EQ(*inflate(gzip(""), 1), "");
}

TEST(Compression, EqualBytesBecomeEqualOnes) {
  EXPECT_EQ(gzip(sample()), gzip(sample()));
  EXPECT_EQ(gzip("x").substr(4, 4), std::string(4, '\0')) << "the time of gzip's header";
}

TEST(Compression, EveryCutIsNoticed) {
  const std::string packed = gzip("a small text, a small text");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(inflate(packed.substr(0, size), 7).ok()) << size;
  }
}

TEST(Compression, WhatIsNotCompressedIsRefused) {
  EXPECT_EQ(inflate("nonsense", 8).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(inflate(gzip("x") + "y", 100).error().code, base::Code::kInvalidArgument);
  std::string damaged = gzip(sample());
  damaged[damaged.size() / 2] ^= 0x55;
  EXPECT_FALSE(inflate(damaged, 1000).ok());
}

TEST(Compression, AnErrorOfTheSinkIsPassedOn) {
  const ByteSink full = [](std::string_view) -> base::Result<> { return base::not_found("full"); };
  Inflater reader;
  EXPECT_EQ(reader.put(gzip("x"), full).error().message, "full");
  Gzip writer(full);
  EXPECT_EQ(writer.put("x").error().message, "full") << "gzip's header";
}

}  // namespace
}  // namespace gangrun::net
