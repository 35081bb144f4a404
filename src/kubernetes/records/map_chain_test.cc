#include "kubernetes/records/map_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

const RecordsKey kKey = records_key(base::Secret("the secret"));
constexpr ChainLimits kLimits{.map_bytes = 1000, .map_keys = 4, .chain_bytes = 50'000};

std::vector<Piece> cut(int part, std::string_view bytes, const std::string& chain = "c") {
  const auto pieces = pieces_of(kKey, "j", chain, part, bytes, kLimits);
  EXPECT_TRUE(pieces.ok()) << pieces.error().message;
  return pieces.ok() ? *pieces : std::vector<Piece>();
}

void put(Json& map, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) map["binaryData"][piece.key] = net::to_base64(piece.sealed);
}

base::Result<std::vector<std::string>> read(const std::vector<Json>& maps,
                                            const std::string& chain = "c") {
  return parts_in(kKey, "j", chain, maps);
}

void expect_lost(const std::vector<Json>& maps, const std::string& words) {
  const auto parts = read(maps);
  ASSERT_FALSE(parts.ok()) << words;
  EXPECT_EQ(parts.error().code, base::Code::kDataLoss);
  EXPECT_THAT(parts.error().message, HasSubstr(words));
}

TEST(MapChain, NamesWhatItHas) {
  EXPECT_EQ(chain_of_journal(12), "journal-000012");
  EXPECT_EQ(chain_of_keys(1), "keys-000001");
  EXPECT_EQ(chain_of_result("My_Worker-0", 2), "result-my-worker-0-2");
  EXPECT_EQ(map_name("wine", "keys-000001", 7), "wine-keys-000001-007");
  EXPECT_EQ(segment_of_journal("journal-000012"), 12);
  EXPECT_EQ(segment_of_journal("keys-000012"), 0);
  EXPECT_EQ(segment_of_journal("journal-12x"), 0);
  EXPECT_EQ(segment_of_keys("keys-000003"), 3);
  EXPECT_TRUE(is_chain_of_result("result-worker-0-1"));
  EXPECT_FALSE(is_chain_of_result("journal-000001"));
}

TEST(MapChain, HasAKeyForEachSecret) {
  EXPECT_EQ(kKey.bytes.reveal().size(), 32U);
  EXPECT_NE(kKey.bytes.reveal(), records_key(base::Secret("another")).bytes.reveal());
}

TEST(MapChain, CutsPartsOfAnyLengthAndPutsThemTogether) {
  for (const std::size_t size : {0U, 1U, 900U, 971U, 972U, 973U, 1944U, 1945U, 20'000U}) {
    const std::string bytes = net::random_bytes(size);
    const auto pieces = cut(42, bytes);
    EXPECT_EQ(pieces.front().key.substr(0, 9), "00042.000") << size;
    EXPECT_TRUE(pieces.back().key.ends_with(".end")) << size;
    for (const Piece& piece : pieces) EXPECT_LE(piece.sealed.size(), kLimits.map_bytes) << size;
  }
  EXPECT_THAT(cut(42, net::random_bytes(1500)),
              ElementsAre(testing::Field(&Piece::key, "00042.000"),
                          testing::Field(&Piece::key, "00042.001.end")));
}

TEST(MapChain, ReadsPartsOfAllMapsInTheirOrder) {
  std::vector<Json> maps(3, Json::object());
  std::vector<std::string> parts;
  for (int part = 1; part <= 12; ++part) {
    parts.push_back(part == 7 ? net::random_bytes(2500) : base::format("part {}", part));
    std::vector<Piece> pieces = cut(part, parts.back());
    if (part == 7) {  // over two maps
      put(maps[1], {pieces[0]});
      pieces.erase(pieces.begin());
    }
    put(maps[part < 7 ? 1 : 2], pieces);  // the first one has none
  }
  const auto all = read(maps);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(*all, parts);
}

TEST(MapChain, LeavesOutALastPartThatIsNotWhole) {
  std::vector<Json> maps(1, Json::object());
  put(maps[0], cut(1, "one"));
  std::vector<Piece> pieces = cut(2, net::random_bytes(2500));
  pieces.pop_back();
  put(maps[0], pieces);
  const auto all = read(maps);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_THAT(*all, ElementsAre("one"));
}

TEST(MapChain, MissesPartsAndPieces) {
  std::vector<Json> maps(1, Json::object());
  put(maps[0], cut(1, "one"));
  put(maps[0], cut(3, "three"));
  expect_lost(maps, "part 2 is missing");
  put(maps[0], cut(2, net::random_bytes(2500)));
  EXPECT_TRUE(read(maps).ok());
  maps[0]["binaryData"].erase("00002.001");
  expect_lost(maps, "part 2 is missing, or a piece of it");
}

TEST(MapChain, RefusesWhatSomebodyElseHasWritten) {
  std::vector<Json> maps(1, Json::object());
  put(maps[0], cut(1, "one"));
  put(maps[0], cut(2, "two"));
  std::vector<Json> swapped = maps;
  swapped[0]["binaryData"]["00001.000.end"] = maps[0]["binaryData"]["00002.000.end"];
  expect_lost(swapped, "damaged");
  std::vector<Json> foreign(1, Json::object());
  put(foreign[0], cut(1, "one", "another chain"));
  expect_lost(foreign, "damaged");
  for (const char* key : {"hello", "1", "00001.000.End", "00000.000.end", "-0001.000.end"}) {
    std::vector<Json> odd = maps;
    odd[0]["binaryData"][key] = "";
    expect_lost(odd, "is none of ours");
  }
  std::vector<Json> twice = maps;
  twice.emplace_back(Json::object());
  put(twice[1], cut(2, "two"));
  expect_lost(twice, "part 2 is there twice");
  maps[0]["binaryData"]["00002.000.end"] = "no base64!";
  expect_lost(maps, "not base64");
}

TEST(MapChain, HasLimits) {
  const auto refused = pieces_of(kKey, "j", "c", 1, net::random_bytes(50'000), kLimits);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kResourceExhausted);
  EXPECT_LT(cut(1, std::string(500'000, 'x')).size(), 3U);  // they count when compressed
  for (const ChainLimits& limits : {journal_limits(), keys_limits(), result_limits()}) {
    EXPECT_LT(limits.map_bytes, 1'000'000U);  // of the 1,048,576 that a map takes
    EXPECT_LT(limits.chain_bytes, limits.map_bytes * kMaxChainMaps);
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::records
