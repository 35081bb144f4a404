#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "kubernetes/pods/agent_parts.h"
#include "net/compression.h"

// Parts of a program for the tests of this room.
namespace gangrun::kubernetes::pods::test {

inline std::string gzip(std::string_view bytes) {
  std::string packed;
  net::Gzip writer(net::append_to(packed));
  EXPECT_TRUE(writer.put(bytes).ok());
  EXPECT_TRUE(writer.finish().ok());
  return packed;
}

// A loader, and an agent in two parts.
inline AgentParts small_parts() {
  std::string packed = gzip("the agent");
  const std::size_t half = packed.size() / 2 + 1;
  return AgentParts::make("the loader", std::move(packed), half).value();
}

}  // namespace gangrun::kubernetes::pods::test
