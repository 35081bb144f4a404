#include "wire/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"
#include "base/test_described.h"
#include "job/described.h"
#include "net/packing.h"
#include "wire/agent_questions.h"

namespace gangrun::wire {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

job::ExitReport some_exit() {
  job::ExitReport report;
  report.why.code = 3;
  report.last_lines = {"one", "two \"quoted\" é"};
  report.traceback = "Traceback (most recent call last):\nValueError: no";
  return report;
}

std::vector<AgentMessage> agent_messages() {
  ReportMessage waiting{
      {"worker", 3}, 2, {"10.0.0.7", 4711}, 99, AgentState::kWaiting, 0, 0, 0, {}};
  ReportMessage running = waiting;
  running.state = AgentState::kRunning;
  running.generation = 4;
  running.run_attempt = 3;
  running.user_pid = 100;
  running.address = {"fe80::1", 1};
  running.more_ports = {4712, 65535};
  running.address_reason = "of eth0, in fe80::/10";
  running.control = ControlAddress{4713, std::string(kFingerprintDigits, 'a')};
  ReportMessage exited = waiting;
  exited.state = AgentState::kExited;
  exited.generation = 4;
  exited.run_attempt = 2;
  exited.exit = PastExit{some_exit(), milliseconds(1500)};
  return {
      waiting,
      running,
      exited,
      StartedMessage{2, 4, 100},
      ExitedMessage{2, 4, {some_exit(), milliseconds(0)}},
      HeartbeatMessage{1 << 30, 12.5, true},
      LogMessage{Stream::kErr, {"a", "", "\x01\t"}, 7},
      LogMessage{Stream::kOut, {}, 0},
      LogMessage{Stream::kErr, {}, 0, "No space left on device"},
      LogMessage{Stream::kErr, {}, 0, "No space left on device", 7},
      PortLostMessage{2, 0},
      FiguresMessage{2, 4, {{"loss", job::Figure(0.5)}, {"step", job::Figure(std::int64_t{7})}}},
      RendezvousMessage{2, 4, 7, RendezvousAction::kGet, "global/0", ""},
      RendezvousMessage{2, 4, 8, RendezvousAction::kPut, "global/0", {"\0\xff\n", 3}},
      RendezvousMessage{2, 4, 9, RendezvousAction::kPut, "global/0", ""},
      RendezvousMessage{2, 4, 10, RendezvousAction::kDelete, "local_h/0", ""},
      AskMessage{3, "kv", {{"key", "a"}}, milliseconds(5000)},
      AnswerMessage{4, {{"stack", "main"}}, ""},
      AnswerMessage{4, nullptr, "unknown"}};
}

std::vector<MasterMessage> master_messages() {
  job::ClusterSpec spec{5, {{"ps", {{"h1", 1}}}, {"worker", {{"h2", 2}, {"h3", 3}}}}};
  return {WelcomeMessage{milliseconds(1000), milliseconds(60000)},
          AliveMessage{},
          StartMessage{2, 1, spec},
          StopMessage{milliseconds(30000)},
          EndMessage{milliseconds(0)},
          RefusedMessage{"the task has an open session already", true},
          RendezvousAnswerMessage{2, 7, std::string("\0\xff", 2), ""},
          RendezvousAnswerMessage{2, 8, "", ""},
          RendezvousAnswerMessage{2, 9, "", "generation 4 is over"},
          AskMessage{5, "stacks", base::Json::object(), milliseconds(0)},
          AnswerMessage{6, {{"value", "b"}}, ""}};
}

TEST(MessagesTest, EveryAgentMessageComesBackAsItWas) {
  for (const AgentMessage& message : agent_messages()) {
    const std::string frame = encode(message);
    const auto decoded = decode_agent_message(frame);
    ASSERT_TRUE(decoded.ok()) << frame << ": " << decoded.error().message;
    EXPECT_EQ(*decoded, message) << frame;
  }
}

TEST(MessagesTest, EveryMasterMessageComesBackAsItWas) {
  for (const MasterMessage& message : master_messages()) {
    const std::string frame = encode(message);
    const auto decoded = decode_master_message(frame);
    ASSERT_TRUE(decoded.ok()) << frame << ": " << decoded.error().message;
    EXPECT_EQ(*decoded, message) << frame;
  }
}

// Recorded from 0.1.0: agents and masters of other versions send them, and expect them, as they
// are.
TEST(MessagesTest, FramesOf010AreReadAndWrittenByteForByte) {
  for (const std::string frame :
       {R"({"type":"started","attempt":1,"generation":1,"pid":4107})",
        R"({"type":"heartbeat","memory_bytes":734003200,"cpu_seconds":12.5,"progress":true})",
        R"({"type":"log","stream":"out","lines":["epoch 1","epoch 2"],"dropped":0})",
        R"({"type":"port_lost","attempt":1,"generation":1})",
        R"({"type":"rendezvous","attempt":1,"generation":1,"id":7,"action":"put",)"
        R"("key":"global/0","value":"00ff"})"}) {
    const auto read = decode_agent_message(frame);
    ASSERT_TRUE(read.ok()) << frame << ": " << read.error().message;
    EXPECT_EQ(encode(*read), frame);
  }
  for (const std::string frame :
       {R"({"type":"alive"})", R"({"type":"welcome","heartbeat_ms":1000,"master_lost_ms":60000})",
        R"({"type":"start","attempt":1,"restarts":0,"cluster_spec":{"generation":1,"tasks":)"
        R"({"ps":["10.0.0.5:4000"],"worker":["10.0.0.6:4710","10.0.0.7:4711"]}}})",
        R"({"type":"stop","grace_ms":30000})", R"({"type":"end","grace_ms":30000})",
        R"({"type":"refused","reason":"the task has an open session already","retry":true})",
        R"({"type":"rendezvous","attempt":1,"id":7,"value":"00ff","refused":""})"}) {
    const auto read = decode_master_message(frame);
    ASSERT_TRUE(read.ok()) << frame << ": " << read.error().message;
    EXPECT_EQ(encode(*read), frame);
  }
}

TEST(MessagesTest, AnOutlineComesBackAsItWas) {
  const job::ClusterSpec spec{5, {{"ps", {{"h1", 1}}}, {"worker", {{"h2", 2}, {"h3", 3}}}}};
  for (const job::TaskId& task : {job::TaskId{"worker", 1}, job::TaskId{"tensorboard", 0}}) {
    const auto outline = job::cluster_spec_from_outline(job::outline_to_json(spec, task));
    ASSERT_TRUE(outline.ok()) << outline.error().message;
    const MasterMessage message = StartMessage{2, 1, *outline};
    const auto decoded = decode_master_message(encode(message));
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(*decoded, message);
  }
}

TEST(MessagesTest, APackedSpecIsUnderstood) {
  const job::ClusterSpec spec{5, {{"worker", {{"h2", 2}, {"h3", 3}}}}};
  const auto packed = [](const std::string& text) {
    return decode_master_message(base::format(
        R"({{"type":"start","attempt":2,"restarts":1,"packed":"{}"}})", net::pack(text)));
  };
  const auto decoded = packed(encode_cluster_spec(spec));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(*decoded, MasterMessage(StartMessage{2, 1, spec}));
  EXPECT_FALSE(packed("[]").ok());
  EXPECT_FALSE(packed("{").ok());
  const auto huge = packed(std::string(kMaxMasterMessageBytes + 1, ' '));
  ASSERT_FALSE(huge.ok());
  EXPECT_THAT(huge.error().message, HasSubstr("start: packed: more than"));
}

TEST(MessagesTest, AreInTheDocumentAndTheFuzzersCorpus) {
  const std::string document = "docs/protocols/registry.md";
  base::expect_in_document<AgentMessage>(document, "messages of agents");
  base::expect_in_document<MasterMessage>(document, "messages of the master");
  const std::string decode(1, '\0');
  base::expect_table_in_document(
      document, "members of questions",
      {{"a command's ask", base::members_of<cluster::Question>()},
       {"answer of a task", base::members_of<cluster::TaskAnswer>()},
       {std::string(kResultKind), base::members_of<ResultPart>()},
       {"result, kept", base::members_of<ResultKept>()},
       {std::string(kOutputsKind), base::members_of<OutputsPart>()},
       {"outputs, a piece", base::members_of<OutputPiece>()},
       {"outputs, kept", base::members_of<OutputsKept>()},
       {std::string(kFilesKind), base::members_of<FilesWanted>()},
       {"files, said", base::members_of<FilesPart>()},
       {"files, a piece", base::members_of<FilePiece>()},
       {std::string(cluster::kNotice), base::members_of<cluster::Notice>()},
       {std::string(kTokensKind), base::members_of<Tokens>()},
       {"control, said", base::members_of<ControlAnswer>()}});
  base::expect_samples_in_corpus<AgentMessage>("type", "registry/agent", decode);
  base::expect_samples_in_corpus<MasterMessage>("type", "registry/master", decode);
}

// But for questions, which either side may have.
TEST(MessagesTest, NoDirectionUnderstandsTheOther) {
  const auto is_of_both = [](const auto& message) {
    return std::holds_alternative<AskMessage>(message) ||
           std::holds_alternative<AnswerMessage>(message);
  };
  for (const AgentMessage& message : agent_messages()) {
    EXPECT_EQ(is_of_both(message), decode_master_message(encode(message)).ok());
  }
  for (const MasterMessage& message : master_messages()) {
    EXPECT_EQ(is_of_both(message), decode_agent_message(encode(message)).ok());
  }
}

TEST(MessagesTest, ACutMessageIsAnError) {
  for (const AgentMessage& message : agent_messages()) {
    const std::string frame = encode(message);
    for (std::size_t length = 0; length < frame.size(); ++length) {
      EXPECT_FALSE(decode_agent_message(frame.substr(0, length)).ok()) << length;
    }
  }
}

// Only a log's message may lack this one, as those of agents do that do not know it.
bool may_be_absent(const std::string& key) { return key == "incomplete" || key == "lost"; }

// Removing a member, adding one, or giving one another type is never accepted.
TEST(MessagesTest, EveryMemberIsNeededAndOfItsType) {
  for (const AgentMessage& message : agent_messages()) {
    const base::Json whole = *base::parse_json(encode(message), kMaxAgentMessageBytes);
    for (const auto& [key, value] : whole.items()) {
      base::Json without = whole;
      without.erase(key);
      EXPECT_EQ(decode_agent_message(without.dump()).ok(), may_be_absent(key))
          << key << " of " << whole.dump();
      base::Json other = whole;
      other[key] = base::Json::array({base::Json::object()});
      EXPECT_FALSE(decode_agent_message(other.dump()).ok()) << key << " of " << whole.dump();
    }
    base::Json more = whole;
    more["more"] = 1;
    EXPECT_FALSE(decode_agent_message(more.dump()).ok()) << more.dump();
  }
  for (const MasterMessage& message : master_messages()) {
    const base::Json whole = *base::parse_json(encode(message), kMaxMasterMessageBytes);
    for (const auto& [key, value] : whole.items()) {
      // A notice may say no time.
      if (key == "left_ms" && whole["type"] == "notice") continue;
      base::Json without = whole;
      without.erase(key);
      EXPECT_FALSE(decode_master_message(without.dump()).ok()) << key << " of " << whole.dump();
    }
    base::Json more = whole;
    more["more"] = 1;
    EXPECT_FALSE(decode_master_message(more.dump()).ok()) << more.dump();
  }
}

struct WrongFrame {
  std::string frame;
  std::string told;
};

TEST(MessagesTest, WrongAgentFramesAreToldByName) {
  const std::string report =
      R"({"type":"report","protocol":3,"task":"worker:3","attempt":1,"address":"h:1",)"
      R"("more_ports":[],"address_reason":"","pid":1,)"
      R"("state":"waiting","run_attempt":0,"generation":0,"user_pid":0})";
  ASSERT_TRUE(decode_agent_message(report).ok());
  const auto with = [&](const std::string& key, const base::Json& value) {
    base::Json json = *base::parse_json(report, kMaxAgentMessageBytes);
    json[key] = value;
    return json.dump();
  };
  const WrongFrame table[] = {
      {"", "not JSON"},
      {"\xff", "not JSON"},
      {"[]", "\"type\""},
      {"1", "\"type\""},
      {"{}", "\"type\""},
      {R"({"type":1})", "\"type\""},
      {R"({"type":"welcome"})", "unknown message \"welcome\""},
      {std::string(70, '[') + std::string(70, ']'), "nests deeper"},
      {std::string(kMaxAgentMessageBytes + 1, ' '), "over the limit"},
      {with("protocol", 2), "the agent speaks protocol 2, the master 3"},
      {with("protocol", 4), "the agent speaks protocol 4, the master 3"},
      {with("task", "worker"), "worker:0"},
      {with("task", "w/../x:1"), "not a task"},
      {with("task", std::string(200, 'a') + ":1"), "\"task\" must be at most"},
      {with("attempt", 0), "\"attempt\" must be from 1"},
      {with("attempt", -1), "\"attempt\""},
      {with("attempt", 1.5), "\"attempt\""},
      {with("attempt", 1e300), "\"attempt\""},
      {with("address", "h"), "host:port"},
      {with("address", "h:0"), "host:port"},
      {with("address", "h:99999"), "host:port"},
      {with("more_ports", 1), "\"more_ports\""},
      {with("more_ports", {0}), "\"more_ports\""},
      {with("more_ports", {65536}), "\"more_ports\""},
      {with("more_ports", std::vector<int>(64, 1)), "\"more_ports\" must be a list of at most 63"},
      {with("address_reason", std::string(1025, 'x')), "\"address_reason\""},
      {with("pid", -1), "\"pid\""},
      {with("control_port", 1), "\"control_fingerprint\""},
      {with("control_fingerprint", std::string(64, 'a')), "\"control_port\""},
      {with("control_port", 0), "\"control_port\" must be from 1 to 65535"},
      {with("state", "asleep"), "waiting, starting, running or exited"},
      {with("state", "running"), "\"run_attempt\""},
      {with("run_attempt", 1), "\"run_attempt\""},
      {with("generation", 1), "\"generation\""},
      {with("generation", 1ULL << 63U), "\"generation\""},
      {with("user_pid", 5), "\"user_pid\""},
      {with("exit", base::to_json(some_exit())), "\"ended_ms_ago\" is missing"},
      {with("ended_ms_ago", 1), "\"exit\" is missing"},
      {R"({"type":"started","attempt":1,"generation":0,"pid":1})", "\"generation\""},
      {R"({"type":"heartbeat","memory_bytes":-1,"cpu_seconds":0,"progress":true})",
       "\"memory_bytes\""},
      {R"({"type":"heartbeat","memory_bytes":1,"cpu_seconds":-0.5,"progress":true})",
       "\"cpu_seconds\""},
      {R"({"type":"heartbeat","memory_bytes":1,"cpu_seconds":1,"progress":1})", "\"progress\""},
      {R"({"type":"log","stream":"both","lines":[],"dropped":0})", "\"stream\""},
      {R"({"type":"log","stream":"out","lines":[1],"dropped":0})", "\"lines\""},
      {R"({"type":"log","stream":"out","lines":"x","dropped":0})", "\"lines\""},
      {R"({"type":"log","stream":"out","lines":[],"dropped":-1})", "\"dropped\""},
      {R"({"type":"port_lost","attempt":1,"generation":-1})", "\"generation\""},
  };
  for (const WrongFrame& row : table) {
    const auto decoded = decode_agent_message(row.frame);
    ASSERT_FALSE(decoded.ok()) << row.frame.substr(0, 300);
    EXPECT_THAT(decoded.error().message, HasSubstr(row.told)) << row.frame.substr(0, 300);
  }
}

TEST(MessagesTest, ACertificateIsKnownByAllDigitsOfItsFingerprint) {
  ReportMessage report{{"worker", 3}, 1, {"h", 1}, 1, AgentState::kWaiting, 0, 0, 0, {}};
  for (const std::string& fingerprint : {std::string(), std::string(63, 'a'), std::string(65, 'a'),
                                         std::string(64, 'A'), std::string(64, 'x')}) {
    report.control = ControlAddress{1, fingerprint};
    const auto decoded = decode_agent_message(encode(AgentMessage(report)));
    ASSERT_FALSE(decoded.ok()) << fingerprint;
    EXPECT_THAT(decoded.error().message, HasSubstr("\"control_fingerprint\"")) << fingerprint;
  }
}

TEST(MessagesTest, WrongFramesOfARendezvousAreToldByName) {
  const WrongFrame table[] = {
      {R"({"type":"rendezvous","attempt":1,"generation":1,"id":1,"action":"push","key":"a/b"})",
       "\"action\""},
      {R"({"type":"rendezvous","attempt":1,"generation":1,"id":-1,"action":"get","key":"a/b"})",
       "\"id\""},
      {R"({"type":"rendezvous","attempt":1,"generation":1,"id":1,"action":"put","key":"a/b"})",
       "\"value\""},
      {R"({"type":"rendezvous","attempt":1,"generation":1,"id":1,"action":"get","key":"a/b",)"
       R"("value":""})",
       "\"value\""},
      {R"({"type":"rendezvous","attempt":1,"generation":1,"id":1,"action":"put","key":"a/b",)"
       R"("value":"0"})",
       "hexadecimal"},
  };
  for (const WrongFrame& row : table) {
    const auto decoded = decode_agent_message(row.frame);
    ASSERT_FALSE(decoded.ok()) << row.frame;
    EXPECT_THAT(decoded.error().message, HasSubstr(row.told)) << row.frame;
  }
}

TEST(MessagesTest, WrongMasterFramesAreToldByName) {
  const WrongFrame table[] = {
      {R"({"type":"report"})", "unknown message"},
      {R"({"type":"welcome","heartbeat_ms":0,"master_lost_ms":0})", "\"heartbeat_ms\""},
      {R"({"type":"welcome","heartbeat_ms":1,"master_lost_ms":-1})", "\"master_lost_ms\""},
      {R"({"type":"alive","now":1})", "unknown member \"now\""},
      {R"({"type":"stop","grace_ms":99999999999})", "\"grace_ms\""},
      {R"({"type":"start","attempt":1,"restarts":0,"cluster_spec":{"generation":0,"tasks":{}}})",
       "\"generation\""},
      {R"({"type":"start","attempt":1,"restarts":0,"cluster_spec":[]})", "start"},
      {R"({"type":"start","attempt":1,"restarts":0})", "or \"packed\" or \"outline\""},
      {R"({"type":"start","attempt":1,"restarts":0,"packed":"","outline":{}})", "or \"packed\""},
      {R"({"type":"start","attempt":1,"restarts":0,"packed":"???"})", "not packed"},
      {R"({"type":"start","attempt":1,"restarts":0,"outline":{"generation":1}})", "\"types\""},
      {R"({"type":"refused","reason":1,"retry":false})", "\"reason\""},
      {R"({"type":"rendezvous","attempt":1,"id":1,"value":1,"refused":""})", "\"value\""},
      {R"({"type":"rendezvous","attempt":1,"id":1,"value":"xy","refused":""})", "hexadecimal"},
      {std::string(kMaxMasterMessageBytes + 1, ' '), "over the limit"},
  };
  for (const WrongFrame& row : table) {
    const auto decoded = decode_master_message(row.frame);
    ASSERT_FALSE(decoded.ok()) << row.frame.substr(0, 300);
    EXPECT_THAT(decoded.error().message, HasSubstr(row.told)) << row.frame.substr(0, 300);
  }
}

TEST(MessagesTest, LimitsOfLogMessagesAreExact) {
  const auto accepted = [](std::vector<std::string> lines) {
    return decode_agent_message(encode(AgentMessage(LogMessage{Stream::kOut, lines, 0}))).ok();
  };
  EXPECT_TRUE(accepted(std::vector<std::string>(kMaxLinesOfLogMessage, "x")));
  EXPECT_FALSE(accepted(std::vector<std::string>(kMaxLinesOfLogMessage + 1, "x")));
  EXPECT_TRUE(accepted({std::string(kMaxLogLineBytes, 'x')}));
  EXPECT_FALSE(accepted({std::string(kMaxLogLineBytes + 1, 'x')}));
  const std::size_t full = kMaxBytesOfLogMessage / kMaxLogLineBytes;
  EXPECT_TRUE(accepted(std::vector<std::string>(full, std::string(kMaxLogLineBytes, '\x01'))));
  EXPECT_FALSE(accepted(std::vector<std::string>(full + 1, std::string(kMaxLogLineBytes, 'x'))));
}

TEST(MessagesTest, LimitsOfARendezvousAreExactAndFitIntoAFrame) {
  const auto frame = [](std::size_t key_bytes, std::size_t value_bytes) {
    return encode(
        AgentMessage(RendezvousMessage{1, 1, 1, RendezvousAction::kPut, std::string(key_bytes, 'k'),
                                       std::string(value_bytes, '\xff')}));
  };
  EXPECT_LE(frame(kMaxRendezvousKeyBytes, kMaxRendezvousValueBytes).size(), kMaxAgentMessageBytes);
  EXPECT_TRUE(decode_agent_message(frame(kMaxRendezvousKeyBytes, kMaxRendezvousValueBytes)).ok());
  EXPECT_FALSE(decode_agent_message(frame(kMaxRendezvousKeyBytes + 1, 1)).ok());
  EXPECT_FALSE(decode_agent_message(frame(1, kMaxRendezvousValueBytes + 1)).ok());
}

TEST(MessagesTest, LimitsOfAResultAreExactAndFitIntoAFrame) {
  const auto about = [](std::int64_t offset, std::int64_t size, std::size_t bytes) {
    return base::to_json(ResultPart{1, offset, size, std::string(bytes, '\xff')});
  };
  const auto accepted = [&](std::int64_t offset, std::int64_t size, std::size_t bytes) {
    return base::from_json<ResultPart>(about(offset, size, bytes)).ok();
  };
  const AskMessage largest{1, std::string(kResultKind),
                           about(0, kMaxResultBytes, kMaxResultPartBytes), kMaxAskLimit};
  EXPECT_LE(encode(AgentMessage(largest)).size(), kMaxAgentMessageBytes);
  EXPECT_TRUE(accepted(0, kMaxResultBytes, kMaxResultPartBytes));
  EXPECT_FALSE(accepted(0, kMaxResultBytes, kMaxResultPartBytes + 1));
  EXPECT_FALSE(accepted(0, kMaxResultBytes + 1, 1));
  EXPECT_TRUE(accepted(2, 5, 3));
  EXPECT_FALSE(accepted(3, 5, 3));
  EXPECT_FALSE(accepted(5, 5, 1));
  EXPECT_FALSE(accepted(0, 5, 0));
}

TEST(MessagesTest, APartOfOutputsHasItsLimits) {
  const auto accepted = [](std::size_t name, std::size_t pieces, std::size_t bytes) {
    const OutputPiece piece{.name = std::string(name, 'n'), .bytes = std::string(bytes, '\xff')};
    const OutputsPart part{.pieces = std::vector<OutputPiece>(pieces, piece)};
    const auto again = base::from_json<OutputsPart>(base::to_json(part));
    return again.ok() && *again == part;
  };
  EXPECT_TRUE(accepted(kMaxOutputNameBytes, 1, kMaxResultPartBytes));
  EXPECT_TRUE(accepted(0, kMaxOutputPieces, 0));
  EXPECT_FALSE(accepted(kMaxOutputNameBytes + 1, 1, 0));
  EXPECT_FALSE(accepted(1, kMaxOutputPieces + 1, 0));
  EXPECT_FALSE(accepted(1, 1, kMaxResultPartBytes + 1));
}

TEST(MessagesTest, TheLargestTokensFitIntoAFrame) {
  const Tokens tokens{base::Secret(std::string(kMaxTokensBytes, '\xff'))};
  const AskMessage largest{1, std::string(kTokensKind), base::to_json(tokens), kMaxAskLimit};
  EXPECT_LE(encode(MasterMessage(largest)).size(), kMaxMasterMessageBytes);
  EXPECT_EQ(*base::from_json<Tokens>(base::to_json(tokens)), tokens);
}

TEST(MessagesTest, AStartForTheLargestGangFits) {
  job::ClusterSpec spec{1, {}};
  for (int i = 0; i < 10'000; ++i) spec.tasks["worker"].push_back({std::string(253, 'h'), 65535});
  const std::string frame = encode(MasterMessage(StartMessage{kMaxAttempt, 1, spec}));
  EXPECT_LE(frame.size(), kMaxMasterMessageBytes);
  EXPECT_TRUE(decode_master_message(frame).ok());
}

// A task prints what it likes; its agent must still be able to tell how it ended.
TEST(MessagesTest, WhateverTheTaskPrintedItsExitReportIsAccepted) {
  for (const std::string& piece : {std::string("\xff"), std::string("\xf0\x9f\x98\x80"),
                                   std::string("\x01"), std::string("\x80"), std::string("a\n")}) {
    std::string huge;
    while (huge.size() < 100'000) huge += piece;
    job::ExitReport report;
    report.why = {.host = huge, .detail = huge, .told = huge};
    report.traceback = huge;
    report.last_lines.assign(100, huge);
    const ExitedMessage message{1, 1, {report, milliseconds(1)}};
    const std::string frame = encode(AgentMessage(message));
    EXPECT_LE(frame.size(), kMaxAgentMessageBytes);
    const auto decoded = decode_agent_message(frame);
    EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  }
}

}  // namespace
}  // namespace gangrun::wire
