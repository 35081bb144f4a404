#include "hadoop/response_reader.h"

#include <gtest/gtest.h>

#include "hadoop/test_server.h"

namespace gangrun::hadoop {
namespace {

TEST(ResponseReader, ResponsesComeOutHoweverTheStreamIsCut) {
  const std::string stream =
      success_frame(1, "a") +
      error_frame(2, RpcResponse::Status::kError, "c", std::string(200, 't')) +
      success_frame(3, "");
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    ResponseReader reader;
    std::vector<std::int32_t> ids;
    for (const std::string& part : {stream.substr(0, cut), stream.substr(cut)}) {
      reader.feed(part);
      while (true) {
        const auto response = reader.next();
        ASSERT_TRUE(response.ok());
        if (!*response) break;
        ids.push_back((*response)->call_id);
      }
    }
    EXPECT_EQ(ids, (std::vector<std::int32_t>{1, 2, 3})) << cut;
  }
}

TEST(ResponseReader, WhatIsNoResponseIsAnError) {
  ResponseReader reader;
  reader.feed(frame_of("\x7f"));
  EXPECT_FALSE(reader.next().ok());
}

}  // namespace
}  // namespace gangrun::hadoop
