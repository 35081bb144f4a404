// The requests of processes to their agent, the questions of agents to the master, and the records
// of a master: nothing of it ends the program, and whatever is understood can be written and read
// again.
//
// The first byte chooses: 0 a request of a process (its second byte is the method, the rest the
// target up to a newline and the body), 1 a question about keys, 2 one about a barrier, 3 a segment
// of records, 4 a part of a result, 5 new tokens, 6 a part of outputs, 7 a question for files, 8 a
// part of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/key_requests.h"
#include "agents/key_records.h"
#include "base/check.h"
#include "base/described_json.h"
#include "net/http.h"
#include "wire/agent_questions.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

template <typename T>
void read_question(std::string_view text) {
  const auto json = base::parse_json(text, text.size());
  if (!json.ok()) return;
  const auto value = base::from_json<T>(*json);
  if (!value.ok()) return;
  const auto again = base::from_json<T>(base::to_json(*value));
  GANGRUN_CHECK(again.ok() && *again == *value, text);
}

void read_request(std::string_view bytes) {
  if (bytes.empty()) return;
  constexpr std::string_view kMethods[] = {"GET", "PUT", "DELETE", "POST"};
  net::HttpRequest request;
  request.method = kMethods[static_cast<unsigned char>(bytes[0]) % 4];
  bytes.remove_prefix(1);
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const auto target = net::parse_target(bytes.substr(0, end));
  if (!target.ok()) return;
  request.path = target->path;
  request.query = target->query;
  request.body = bytes.substr(std::min(end + 1, bytes.size()));
  const agent::KeyRun run{.attempt = 1, .generation = 1, .processes = 2, .tasks = 2, .all = 2};
  const auto asked = agent::key_request(request, run);
  if (!asked.ok()) return;
  GANGRUN_CHECK(asked->key.has_value() != asked->barrier.has_value(), request.path);
  GANGRUN_CHECK(asked->wait.count() >= 0 && asked->wait <= wire::kMaxKeyWait, request.path);
  if (asked->barrier) {
    const auto read = base::from_json<wire::BarrierQuestion>(base::to_json(*asked->barrier));
    GANGRUN_CHECK(read.ok() && *read == *asked->barrier, request.path);
    return;
  }
  wire::KeyQuestion question = *asked->key;
  if (asked->is_change()) question.change = 1;
  const auto read = base::from_json<wire::KeyQuestion>(base::to_json(question));
  GANGRUN_CHECK(read.ok() && *read == question, request.path);
}

void read_segment(std::string_view text) {
  agents::KeptKeys kept;
  if (!agents::replay(text, kept).ok()) return;
  agents::KeptKeys again;
  const auto read = agents::replay(agents::lines_of(kept), again);
  GANGRUN_CHECK(read.ok(), text);
  GANGRUN_CHECK(again.store.keys() == kept.store.keys(), text);
  GANGRUN_CHECK(again.store.bytes() == kept.store.bytes(), text);
  GANGRUN_CHECK(again.store.made() == kept.store.made(), text);
  GANGRUN_CHECK(again.barriers.released() == kept.barriers.released(), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 9) {
    case 0: read_request(bytes); break;
    case 1: read_question<wire::KeyQuestion>(bytes); break;
    case 2: read_question<wire::BarrierQuestion>(bytes); break;
    case 3: read_segment(bytes); break;
    case 4: read_question<wire::ResultPart>(bytes); break;
    case 5: read_question<wire::Tokens>(bytes); break;
    case 6: read_question<wire::OutputsPart>(bytes); break;
    case 7: read_question<wire::FilesWanted>(bytes); break;
    default: read_question<wire::FilesPart>(bytes); break;
  }
  return 0;
}
