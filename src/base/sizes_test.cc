#include "base/sizes.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace gangrun::base {
namespace {

// Five bytes were "0.0 MiB", and "1 KiB" elsewhere.
TEST(SizeText, UsesTheUnitThatReadsWell) {
  constexpr std::uint64_t kKib = 1024;
  constexpr std::uint64_t kMib = kKib * kKib;
  for (const auto& [bytes, text] : std::vector<std::pair<std::uint64_t, std::string>>{
           {0, "0 B"},
           {5, "5 B"},
           {1023, "1023 B"},
           {kKib, "1 KiB"},
           {1536, "1.5 KiB"},
           {99 * kKib + 999, "100 KiB"},
           {kMib - 1, "1 MiB"},
           {kMib, "1 MiB"},
           {200 * kMib, "200 MiB"},
           {812 * kMib + 700 * kKib, "813 MiB"},
           {kMib * 1024 - 1, "1 GiB"},
           {kMib * kKib * 3 / 2, "1.5 GiB"},
           {kMib * kMib * 7, "7 TiB"},
           {std::numeric_limits<std::uint64_t>::max(), "16 EiB"}}) {
    EXPECT_EQ(size_text(bytes), text) << bytes;
  }
}

}  // namespace
}  // namespace gangrun::base
