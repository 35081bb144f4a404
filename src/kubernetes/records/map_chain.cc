#include "kubernetes/records/map_chain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "kubernetes/value_at.h"
#include "net/cipher.h"
#include "net/compression.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Code;
using base::Result;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kSealBytes = net::kCipherNonceBytes + net::kCipherTagBytes;
constexpr std::string_view kJournalChain = "journal-";
constexpr std::string_view kKeysChain = "keys-";
constexpr std::string_view kResultChain = "result-";
constexpr std::string_view kEndOfPart = "end";
// No part is longer when it is unpacked: a hostile one could fill the memory.
constexpr std::size_t kMaxPartBytes = 64 * kMiB;
constexpr int kMaxPart = 10'000'000;
constexpr int kMaxPiecesOfPart = 1000;

// The number and place of a piece, by its key.
struct Place {
  int part = 0;
  int piece = 0;
  bool is_last = false;
};

std::optional<int> number_in(const std::string& digits, int most) {
  if (digits.empty() || !std::ranges::all_of(digits, base::is_digit)) return std::nullopt;
  const auto number = base::parse_integer(digits);
  if (!number || *number > most) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<Place> place_of(const std::string& key) {
  const std::vector<std::string> words = base::split(key, '.');
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const auto part = number_in(words[0], kMaxPart);
  const auto piece = number_in(words[1], kMaxPiecesOfPart);
  if (!part || !piece || *part < 1) return std::nullopt;
  if (words.size() == 3 && words[2] != kEndOfPart) return std::nullopt;
  return Place{*part, *piece, words.size() == 3};
}

std::string key_of(const Place& place) {
  return base::format("{:05}.{:03}{}", place.part, place.piece, place.is_last ? ".end" : "");
}

std::string about(const std::string& job_id, const std::string& chain, const std::string& key) {
  return base::format("{}/{}/{}", job_id, chain, key);
}

Result<std::string> compressed(std::string_view bytes) {
  std::string out;
  net::Gzip gzip(net::append_to(out));
  GANGRUN_TRY(gzip.put(bytes));
  GANGRUN_TRY(gzip.finish());
  return out;
}

base::Error lost(const std::string& chain, std::string_view what) {
  return {Code::kDataLoss, base::format("the records {}: {}", chain, what)};
}

Result<std::string> unpacked(const std::string& chain, std::string_view packed) {
  std::string out;
  net::Inflater inflater;
  const auto read = inflater.put(packed, [&](std::string_view piece) -> Result<> {
    if (out.size() + piece.size() > kMaxPartBytes) return lost(chain, "a part is too long");
    out.append(piece);
    return {};
  });
  if (!read.ok()) return lost(chain, read.error().message);
  if (!inflater.done()) return lost(chain, "a part is cut");
  return out;
}

int segment_of(std::string_view chain, std::string_view kind) {
  if (!chain.starts_with(kind)) return 0;
  return number_in(std::string(chain.substr(kind.size())), kMaxPart).value_or(0);
}

// A part while its pieces come together: those from the first on, without a gap.
struct Gathered {
  std::map<int, std::pair<Place, std::string>> pieces;  // by their numbers; base64

  [[nodiscard]] bool is_whole() const {
    return !pieces.empty() && pieces.rbegin()->second.first.is_last &&
           pieces.rbegin()->first + 1 == static_cast<int>(pieces.size());
  }
};

Result<std::map<int, Gathered>> gathered(const std::string& chain,
                                         const std::vector<base::Json>& maps) {
  std::map<int, Gathered> parts;
  for (const base::Json& map : maps) {
    const base::Json& values = value_at(map, {"binaryData"});
    if (!values.is_object()) continue;
    for (const auto& [key, value] : values.items()) {
      const auto place = place_of(key);
      if (!place || !value.is_string()) {
        return lost(chain, base::format("the key {} is none of ours", key));
      }
      const bool is_new =
          parts[place->part]
              .pieces.emplace(place->piece, std::pair(*place, value.get<std::string>()))
              .second;
      if (!is_new) return lost(chain, base::format("part {} is there twice", place->part));
    }
  }
  return parts;
}

Result<std::string> opened(const RecordsKey& key, const std::string& job_id,
                           const std::string& chain, const Gathered& part) {
  std::string packed;
  for (const auto& [number, piece] : part.pieces) {
    const auto sealed = net::from_base64(piece.second);
    if (!sealed) return lost(chain, "a piece is not base64");
    GANGRUN_ASSIGN(
        const std::string bytes,
        net::unseal(key.bytes, *sealed, about(job_id, chain, key_of(piece.first))).context(chain));
    packed += bytes;
  }
  return unpacked(chain, packed);
}

}  // namespace

ChainLimits journal_limits() {
  return {.map_bytes = 256 * kKiB, .map_keys = 400, .chain_bytes = 64 * kMiB};
}

ChainLimits keys_limits() {
  return {.map_bytes = 900 * kKiB, .map_keys = 400, .chain_bytes = 24 * kMiB};
}

ChainLimits result_limits() {
  return {.map_bytes = 900 * kKiB, .map_keys = 400, .chain_bytes = 8 * kMiB + 64 * kKiB};
}

RecordsKey records_key(const base::Secret& job_secret) {
  return {base::Secret(net::hmac_sha256(job_secret.reveal(), "gangrun records 1"))};
}

std::string chain_of_journal(int segment) {
  return base::format("{}{:06}", kJournalChain, segment);
}

std::string chain_of_keys(int segment) { return base::format("{}{:06}", kKeysChain, segment); }

std::string chain_of_result(const std::string& name, int times) {
  std::string small = base::in_small_letters(name);
  std::ranges::replace_if(
      small, [](char c) { return !base::is_small_letter_or_digit(c); }, '-');
  return base::format("{}{}-{}", kResultChain, small, times);
}

int segment_of_journal(std::string_view chain) { return segment_of(chain, kJournalChain); }

int segment_of_keys(std::string_view chain) { return segment_of(chain, kKeysChain); }

bool is_chain_of_result(std::string_view chain) { return chain.starts_with(kResultChain); }

std::string map_name(const std::string& job_name, const std::string& chain, int index) {
  return base::format("{}-{}-{:03}", job_name, chain, index);
}

Result<std::vector<Piece>> pieces_of(const RecordsKey& key, const std::string& job_id,
                                     const std::string& chain, int part, std::string_view bytes,
                                     const ChainLimits& limits) {
  GANGRUN_ASSIGN(const std::string packed, compressed(bytes));
  const std::size_t most = limits.map_bytes - kSealBytes;
  const std::size_t count = std::max<std::size_t>((packed.size() + most - 1) / most, 1);
  if (packed.size() + count * kSealBytes > limits.chain_bytes || bytes.size() > kMaxPartBytes) {
    return base::Error{Code::kResourceExhausted,
                       base::format("{} bytes, {} when compressed, are too many for the records {} "
                                    "in config maps",
                                    bytes.size(), packed.size(), chain)};
  }
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    Piece piece{key_of({part, static_cast<int>(i), i + 1 == count}), {}};
    GANGRUN_ASSIGN(piece.sealed,
                   net::seal(key.bytes, std::string_view(packed).substr(i * most, most),
                             about(job_id, chain, piece.key)));
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Result<std::vector<std::string>> parts_in(const RecordsKey& key, const std::string& job_id,
                                          const std::string& chain,
                                          const std::vector<base::Json>& maps) {
  GANGRUN_ASSIGN(const auto parts, gathered(chain, maps));
  std::vector<std::string> all;
  for (const auto& [number, part] : parts) {
    const int expected = static_cast<int>(all.size()) + 1;
    const bool is_last = number == parts.rbegin()->first;
    if (number == expected && is_last && !part.is_whole() && !part.pieces.empty() &&
        !part.pieces.rbegin()->second.first.is_last) {
      break;
    }
    if (number != expected || !part.is_whole()) {
      return lost(chain, base::format("part {} is missing, or a piece of it", expected));
    }
    GANGRUN_ASSIGN(std::string bytes, opened(key, job_id, chain, part));
    all.push_back(std::move(bytes));
  }
  return all;
}

}  // namespace gangrun::kubernetes::records
