#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"

// Records of a job in config maps (docs/protocols/kubernetes-records.md): a chain is a row of maps,
// which hold numbered parts, each in one piece or some, compressed and sealed.
namespace gangrun::kubernetes::records {

struct ChainLimits {
  std::size_t map_bytes = 0;  // of the values of one map
  int map_keys = 0;
  std::size_t chain_bytes = 0;  // of all its maps
};

ChainLimits journal_limits();
ChainLimits keys_limits();
ChainLimits result_limits();

inline constexpr int kMaxChainMaps = 999;

struct RecordsKey {
  base::Secret bytes;
};

// The key that belongs to a job's secret.
RecordsKey records_key(const base::Secret& job_secret);

// Their names are parts of the names of objects.
std::string chain_of_journal(int segment);
std::string chain_of_keys(int segment);
std::string chain_of_result(const std::string& name, int times);
// The number of the segment; 0: it is another chain.
int segment_of_journal(std::string_view chain);
int segment_of_keys(std::string_view chain);
bool is_chain_of_result(std::string_view chain);
// `index` from 1.
std::string map_name(const std::string& job_name, const std::string& chain, int index);

struct Piece {
  std::string key;  // "00042.000", of the last piece of a part "00042.001.end"
  std::string sealed;
};

// The pieces of one part. kResourceExhausted: it is longer than a chain may be.
base::Result<std::vector<Piece>> pieces_of(const RecordsKey& key, const std::string& job_id,
                                           const std::string& chain, int part,
                                           std::string_view bytes, const ChainLimits& limits);

// All parts of a chain in their order, from its maps, the first one first. kDataLoss: one is
// missing or damaged. Of the last part the last pieces may be missing: it was never acknowledged,
// and is left out.
base::Result<std::vector<std::string>> parts_in(const RecordsKey& key, const std::string& job_id,
                                                const std::string& chain,
                                                const std::vector<base::Json>& maps);

}  // namespace gangrun::kubernetes::records
