#include "hadoop/tfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/test_tfile_internal.h"

namespace gangrun::hadoop {
namespace {

using base::Code;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Collector final : public RecordSink {
 public:
  base::Result<> begin(std::string_view key) override {
    records.emplace_back(key, "");
    return {};
  }
  base::Result<> value(std::string_view piece) override {
    records.back().second += piece;
    return {};
  }
  base::Result<> end() override {
    ++ended;
    return {};
  }

  std::vector<std::pair<std::string, std::string>> records;
  int ended = 0;
};

base::Result<Collector> collect(const std::string& file, std::size_t piece = 1 << 20) {
  MemoryFile memory(file, piece);
  Collector out;
  GANGRUN_TRY(read_tfile(memory, out));
  return out;
}

TEST(TFile, RecordsComeInTheirOrderWhateverThePieces) {
  for (const std::string compression : {"none", "gz"}) {
    TFileWriter writer(compression);
    writer.record("first", {"abc"});
    writer.record("", {""});
    writer.end_block();
    writer.record("chunked", {"x", std::string(300, 'y'), std::string(70'000, 'z'), ""});
    writer.record(std::string(200, 'k'), {std::string(300'000, 'v')});
    const std::string file = writer.finish();
    for (const std::size_t piece : {1U, 3U, 150'000U}) {
      const auto found = collect(file, piece);
      ASSERT_TRUE(found.ok()) << compression << ": " << found.error().message;
      EXPECT_EQ(found->ended, 4);
      EXPECT_THAT(
          found->records,
          ElementsAre(Pair("first", "abc"), Pair("", ""),
                      Pair("chunked", "x" + std::string(300, 'y') + std::string(70'000, 'z')),
                      Pair(std::string(200, 'k'), std::string(300'000, 'v'))));
    }
  }
}

TEST(TFile, AnEmptyOneHasNoRecords) {
  EXPECT_TRUE(collect(TFileWriter("none").finish())->records.empty());
}

TEST(TFile, IntegersOfAllLengths) {
  // The sizes of values around each of the coding's borders.
  for (const std::size_t size : {127U, 128U, 5119U, 5120U, 1048575U, 1048576U}) {
    TFileWriter writer("none");
    writer.record("k", {std::string(size, 'v')});
    const auto found = collect(writer.finish());
    ASSERT_TRUE(found.ok()) << size << ": " << found.error().message;
    EXPECT_EQ(found->records.at(0).second.size(), size);
  }
}

TEST(TFile, EveryCutIsNoticed) {
  TFileWriter writer("gz");
  writer.record("key", {"value", "more"});
  const std::string file = writer.finish();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto found = collect(file.substr(0, size));
    ASSERT_FALSE(found.ok()) << size;
    EXPECT_EQ(found.error().code, Code::kDataLoss) << size;
  }
}

TEST(TFile, NoDamagedByteLeadsAstray) {
  TFileWriter writer("none");
  writer.record("key", {"value", "more"});
  writer.record("key2", {"value2"});
  const std::string file = writer.finish();
  int noticed = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      noticed += collect(damaged).ok() ? 0 : 1;  // the sanitizers tell what else goes wrong
    }
  }
  EXPECT_GT(noticed, 100);
}

// It was taken for a file without logs.
TEST(TFile, OneOfFewerThanNoBlocksIsDamaged) {
  const std::string index = TFileWriter::integer(4) + "none" + TFileWriter::integer(-1);
  std::string file = TFileWriter("none").finish().substr(0, 16);
  const std::string place = TFileWriter::integer(static_cast<std::int64_t>(file.size())) +
                            TFileWriter::integer(static_cast<std::int64_t>(index.size())) +
                            TFileWriter::integer(static_cast<std::int64_t>(index.size()));
  const std::string head = file;
  file += index;
  const auto offset = static_cast<char>(file.size());
  const std::string name = "data:BCFile.index";
  file += TFileWriter::integer(1) + TFileWriter::integer(static_cast<std::int64_t>(name.size())) +
          name + TFileWriter::integer(4) + "none" + place + std::string(7, '\0') + offset +
          std::string("\0\1\0\0", 4) + head;
  const auto read = collect(file);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "the TFile is damaged: it has fewer than no blocks");
}

TEST(TFile, AnUnknownCompressionIsNamed) {
  TFileWriter writer("lzo");
  const auto found = collect(writer.finish());
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::kInvalidArgument);
  EXPECT_THAT(found.error().message, HasSubstr("\"lzo\""));
}

TEST(TFile, IsKnownByItsBeginning) {
  MemoryFile real(TFileWriter("none").finish());
  EXPECT_TRUE(*is_tfile(real));
  MemoryFile other("0123456789abcdef0123456789abcdef0123456789");
  EXPECT_FALSE(*is_tfile(other));
  MemoryFile empty("");
  EXPECT_FALSE(*is_tfile(empty));
}

TEST(TFile, AnErrorOfTheSinkIsPassedOn) {
  class Full final : public RecordSink {
   public:
    base::Result<> begin(std::string_view) override { return base::not_found("full"); }
    base::Result<> value(std::string_view) override { return {}; }
    base::Result<> end() override { return {}; }
  };
  TFileWriter writer("none");
  writer.record("k", {"v"});
  MemoryFile file(writer.finish());
  Full full;
  EXPECT_EQ(read_tfile(file, full).error().message, "full");
}

}  // namespace
}  // namespace gangrun::hadoop
