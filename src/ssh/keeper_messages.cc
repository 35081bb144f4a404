#include "ssh/keeper_messages.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "job/described.h"
#include "job/units.h"
#include "net/hosts.h"

namespace gangrun::base {

Json JsonOf<cluster::OddOutput>::write(const cluster::OddOutput& odd) {
  return std::vector<std::string>{odd.name, odd.why};
}

Result<> JsonOf<cluster::OddOutput>::read(const Json& json, std::string_view key,
                                          cluster::OddOutput& out) {
  std::vector<std::string> pair;
  GANGRUN_TRY(JsonOf<std::vector<std::string>>::read(json, key, pair));
  if (pair.size() != 2) return wrong_member(key, "pairs of name and reason");
  out = {std::move(pair.front()), std::move(pair.back())};
  return {};
}

}  // namespace gangrun::base

namespace gangrun::ssh {

namespace {

using base::Json;
using base::Result;

constexpr std::string_view kTag = "op";

// All jobs of the host's neighbours are told them.
Result<> check_address(const std::string& address) {
  if (net::is_numeric_address(address)) return {};
  return base::invalid_argument(base::format("{} is not an address", job::in_quotes(address)));
}

// It stands in sentences of ours, with files of the job below it.
Result<> check_folder(const std::string& folder) {
  const bool is_path = folder.starts_with('/') && folder.size() < PATH_MAX;
  if (is_path && folder == base::harmless_sentence(folder)) return {};
  return base::invalid_argument(
      base::format("folder: {} is no plain absolute path", base::their_words(folder)));
}

}  // namespace

Result<> HelloMessage::complete() const {
  GANGRUN_TRY(check_address(address));
  for (const std::string& own : own_addresses) GANGRUN_TRY(check_address(own));
  return check_folder(folder);
}

BringMessage bring_message(const std::vector<std::optional<std::vector<std::string>>>& outputs,
                           std::uint64_t limit) {
  BringMessage bring;
  bring.limit = limit;
  for (const auto& names : outputs) {
    if (!names) {
      bring.new_too = true;
    } else {
      bring.names.insert(bring.names.end(), names->begin(), names->end());
    }
  }
  std::sort(bring.names.begin(), bring.names.end());
  bring.names.erase(std::unique(bring.names.begin(), bring.names.end()), bring.names.end());
  return bring;
}

Json to_json(const KeeperMessage& message) { return base::tagged_json(kTag, message); }

Result<KeeperMessage> keeper_message_from_json(const Json& json) {
  return base::tagged_from<KeeperMessage>(kTag, json);
}

bool is_of_a_job(const KeeperMessage& message) {
  return std::visit(
      base::Overloaded{
          [](const base::OneOf<FileMessage, StartMessage, AdoptMessage, ReleaseOthersMessage,
                               StopMessage, LogsTakenMessage, EndMessage> auto&) { return true; },
          [](const BringMessage& bring) { return bring.run_folder.empty(); },
          [](const base::OneOf<BeginMessage, PingMessage, RemoveMessage> auto&) { return false; },
          [](const MessageOfAHost auto& /*each*/) { return false; },
      },
      message);
}

}  // namespace gangrun::ssh
