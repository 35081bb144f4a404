#include "process/address_in_use.h"

#include <gmock/gmock.h>

#include <string>

namespace gangrun::process {
namespace {

TEST(SaysAddressInUse, InTheWordsOfManyPrograms) {
  for (const std::string_view line : {
           "OSError: [Errno 98] Address already in use",
           "OSError: [Errno 98] Adresse wird bereits verwendet",
           "bind: Address already in use",
           "listen tcp :8080: bind: address already in use",
           "Error: listen EADDRINUSE: address already in use :::8080",
           "Exception in thread \"main\" java.net.BindException: Address already in use",
           "Error: Os { code: 98, kind: AddrInUse, message: \"Address in use\" }",
           "E1121 chttp2_server.cc:1045] UNKNOWN:No address added out of total 1 resolved for "
           "'[::]:40123'",
           "tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server",
           "torch.distributed.DistNetworkError: The server socket has failed to bind to "
           "[::]:29500 (errno: 98 - Address already in use).",
           "RuntimeError: The server socket has failed to listen on any local network address. "
           "port: 29500, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use",
           "ERROR: TensorBoard could not bind to port 6006, it was already in use",
           "Port 5000 is already in use by another program.",
       }) {
    EXPECT_TRUE(says_address_in_use(line)) << line;
  }
}

TEST(SaysAddressInUse, NotEveryLineWithAPortDoes) {
  for (const std::string_view line :
       {"", "connection refused: 10.0.0.1:40123", "the model is already in use",
        "serving on port 8080", "already in use: port 1", "[Errno 111] Connection refused",
        "error 98 of 100", "support is already there"}) {
    EXPECT_FALSE(says_address_in_use(line)) << line;
  }
}

TEST(SaysAddressInUse, WhateverTheLineHolds) {
  std::string line(20'000, '\xff');
  line[7] = '\0';
  EXPECT_FALSE(says_address_in_use(line));
  EXPECT_TRUE(says_address_in_use(line + "EADDRINUSE"));
}

}  // namespace
}  // namespace gangrun::process
