#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/desk.h"
#include "wire/messages.h"

namespace gangrun::agents {

// Records all that a desk says and tells.
class Recorder final : public DeskOutput {
 public:
  void send(wire::SessionId session, wire::Frame frame) override {
    auto message = wire::decode_master_message(*frame);
    ASSERT_TRUE(message.ok()) << *frame;
    frames.push_back(std::move(frame));
    sent.emplace_back(session, *std::move(message));
  }
  void close(wire::SessionId session, std::string_view reason) override {
    closed.emplace_back(session, std::string(reason));
  }
  void event(DeskEvent event) override { events.push_back(std::move(event)); }
  void clear() {
    sent.clear();
    frames.clear();
    closed.clear();
    events.clear();
  }

  std::vector<std::pair<wire::SessionId, wire::MasterMessage>> sent;
  std::vector<wire::Frame> frames;  // of all in `sent`
  std::vector<std::pair<wire::SessionId, std::string>> closed;
  std::vector<DeskEvent> events;
};

}  // namespace gangrun::agents
