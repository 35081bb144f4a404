#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "kubernetes/pods/agent_parts.h"
#include "net/compression.h"
#include "net/digests.h"

// Parts of a program for the tests of this room.
namespace gangrun::kubernetes::pods::test {

inline std::string sha256(std::string_view bytes) {
  net::Sha256Stream stream;
  stream.put(bytes);
  return base::to_hex(stream.finish());
}

// As gzip packs a file of that name.
inline std::string gzip(std::string_view bytes, const std::string& name) {
  constexpr std::size_t kFlags = 3;
  constexpr char kHasName = 8;
  constexpr std::size_t kHeader = 10;
  std::string packed;
  net::Gzip writer(net::append_to(packed));
  EXPECT_TRUE(writer.put(bytes).ok());
  EXPECT_TRUE(writer.finish().ok());
  packed[kFlags] = kHasName;
  packed.insert(kHeader, name.c_str(), name.size() + 1);
  return packed;
}

// As the build packs the agent.
inline std::string gzip(std::string_view bytes) {
  return gzip(bytes, base::format("{}-{}", sha256(bytes), bytes.size()));
}

// A loader, and an agent in two parts.
inline AgentParts small_parts() {
  std::string packed = gzip("the agent");
  const std::size_t half = packed.size() / 2 + 1;
  return AgentParts::make("the loader", std::move(packed), half).value();
}

}  // namespace gangrun::kubernetes::pods::test
