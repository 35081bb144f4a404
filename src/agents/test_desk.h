#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/desk.h"
#include "registry/messages.h"

namespace gangrun::agents {

// Records all that a desk says and tells.
class Recorder final : public DeskOutput {
 public:
  void send(registry::SessionId session, registry::Frame frame) override {
    auto message = registry::decode_master_message(*frame);
    ASSERT_TRUE(message.ok()) << *frame;
    frames.push_back(std::move(frame));
    sent.emplace_back(session, *std::move(message));
  }
  void close(registry::SessionId session, std::string_view reason) override {
    closed.emplace_back(session, std::string(reason));
  }
  void event(DeskEvent event) override { events.push_back(std::move(event)); }
  void clear() {
    sent.clear();
    frames.clear();
    closed.clear();
    events.clear();
  }

  std::vector<std::pair<registry::SessionId, registry::MasterMessage>> sent;
  std::vector<registry::Frame> frames;  // of all in `sent`
  std::vector<std::pair<registry::SessionId, std::string>> closed;
  std::vector<DeskEvent> events;
};

}  // namespace gangrun::agents
