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
           "Port 5000 is in use, trying another one instead.",
           "Error: port 5000 in use",
           "[2026-01-31] [7] [ERROR] Connection in use: ('0.0.0.0', 8000)",
       }) {
    EXPECT_TRUE(says_address_in_use(line)) << line;
  }
}

TEST(SaysAddressInUse, NotEveryLineWithAPortDoes) {
  for (const std::string_view line :
       {"", "connection refused: 10.0.0.1:40123", "the model is already in use",
        "serving on port 8080", "already in use: port 1", "the port in use is 8080",
        "[Errno 111] Connection refused", "error 98 of 100", "support is already there"}) {
    EXPECT_FALSE(says_address_in_use(line)) << line;
  }
}

TEST(SaysAddressInUse, WhateverTheLineHolds) {
  std::string line(20'000, '\xff');
  line[7] = '\0';
  EXPECT_FALSE(says_address_in_use(line));
  EXPECT_TRUE(says_address_in_use(line + "EADDRINUSE"));
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NamedPorts, AreThoseAfterAHostOrTheWord) {
  for (const std::string_view text :
       {"listen tcp :8080: bind", "listen EADDRINUSE: address already in use :::8080",
        "on [::]:8080 (errno: 98", "on 127.0.0.1:8080", "at localhost:8080.",
        "port: 8080, code: -98", "bind to port 8080, it", "--master_port=8080", "Port 8080 is",
        "\"port\": \"8080\"", "listen(8080) port='8080'", "at 12:30:59 port 8080",
        "Address already in use: ('', 8080)", "Connection in use: ('0.0.0.0', 8080)",
        "(\"::\", 8080, 0, 0)"}) {
    EXPECT_THAT(named_ports(text), ElementsAre(8080)) << text;
  }
  EXPECT_THAT(named_ports("ports :80 and port 443 and :80"), ElementsAre(80, 443));
}

TEST(NamedPorts, OtherNumbersAreNone) {
  for (const std::string_view text :
       {"", ":", "port", "port ", "8080", "[Errno 98] Address already in use", "step 8080 of 9000",
        "12:30:59.123", "port 0", "port 65536", "port 123456789012", "port 8080.5",
        "10.0.0.1:x8080", "support8080", "', 8080", "('a', 'b', 8080)", "(3, 8080)", "port -1",
        "http://a:8080x"}) {
    EXPECT_THAT(named_ports(text), IsEmpty()) << text;
  }
}

TEST(PortsInCommand, AreNamedOrWordsOfTheirOwn) {
  EXPECT_THAT(ports_in_command({"python3", "serve.py", "29511"}), ElementsAre(29511));
  EXPECT_THAT(ports_in_command({"sh", "-c", "serve.py 0.0.0.0 8000 --port=81"}),
              ElementsAre(81, 8000));
  EXPECT_THAT(ports_in_command({"train.py", "--steps=5000", "5000x", "70000", "80"}), IsEmpty());
}

TEST(PortsInCode, AreTheNumbersOfLinesThatBindOrListen) {
  EXPECT_THAT(ports_in_code("  File \"a.py\", line 1033, in serve\n"
                            "    server.bind((\"127.0.0.1\", 5000))\n"
                            "    train(steps=7000)\n"
                            "HTTPServer((\"\", 8000), Handler).listen(128)\n"
                            "app.run(port=81)\n"),
              ElementsAre(5000, 8000, 81));
  EXPECT_THAT(ports_in_code("OSError: [Errno 98] Address already in use"), IsEmpty());
}

}  // namespace
}  // namespace gangrun::process
