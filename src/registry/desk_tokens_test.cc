// Who gets new tokens, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "job/test_tasks.h"
#include "registry/desk.h"
#include "registry/test_registry.h"

namespace gangrun::registry {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

const job::TaskId kOther{"worker", 1};

using Sent = std::pair<SessionId, std::string>;

class RecordedTokens final : public DeskOutput {
 public:
  void send(SessionId session, Frame frame) override {
    const MasterMessage message = *decode_master_message(*frame);
    if (const auto* tokens = std::get_if<TokensMessage>(&message)) {
      sent.emplace_back(session, tokens->file.reveal());
    }
  }
  void close(SessionId, std::string_view) override {}
  void event(DeskEvent) override {}

  std::vector<Sent> sent;
};

class DeskTokensTest : public testing::Test {
 protected:
  void attach(SessionId session, const job::TaskId& task) {
    desk.expect(task, 1);
    desk.on_opened(session, now);
    desk.on_frame(session,
                  encode(ReportMessage{task, 1, {"h", 1}, 9, AgentState::kWaiting, 0, 0, 0, {}}),
                  now);
  }

  base::Instant now = base::Instant(std::chrono::seconds(1000));
  RecordedTokens out;
  LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

TEST_F(DeskTokensTest, WhoIsThereGetsThemAndWhoComesGetsTheLast) {
  attach(1, job::kWorker0);
  EXPECT_THAT(out.sent, IsEmpty());
  desk.set_tokens(base::Secret("first"));
  desk.set_tokens(base::Secret("second"));
  attach(2, kOther);
  EXPECT_THAT(out.sent, ElementsAre(Sent(1, "first"), Sent(1, "second"), Sent(2, "second")));
}

TEST_F(DeskTokensTest, WhoHasNotReportedGetsNone) {
  desk.expect(job::kWorker0, 1);
  desk.on_opened(1, now);
  desk.set_tokens(base::Secret("first"));
  EXPECT_THAT(out.sent, IsEmpty());
}

}  // namespace
}  // namespace gangrun::registry
