#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/overloaded.h"
#include "base/result.h"
#include "cluster/found_outputs.h"
#include "job/choice.h"
#include "job/ends.h"
#include "job/gpus.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "job/why.h"

// The messages between gangrun and a host's keeper, as JSON objects with a member "op".
namespace gangrun::ssh {

// The files that a host keeps of a job that is over.
enum class Kept {
  kNothing,
  kWritten,  // for a day its working folder, where tasks have written something
  kFolder,   // its working folder, until it is told to remove it
};
constexpr auto choice_of(Kept) {
  using enum Kept;
  return job::choice<Kept>("what a host keeps",
                           {{kNothing, "nothing"}, {kWritten, "written"}, {kFolder, "folder"}});
}
inline std::string_view to_string(Kept kept) { return job::to_string(kept); }

}  // namespace gangrun::ssh

namespace gangrun::base {

// As a pair: ["logs/pipe", "a FIFO"].
template <>
struct JsonOf<cluster::OddOutput> {
  static Json write(const cluster::OddOutput& odd);
  static Result<> read(const Json& json, std::string_view key, cluster::OddOutput& out);
  static std::string words() { return "a pair of name and reason"; }
  static cluster::OddOutput sample() { return {"a", "a FIFO"}; }
};

}  // namespace gangrun::base

namespace gangrun::ssh {

// More are of no use to choose from.
inline constexpr std::size_t kMaxOwnAddresses = 64;

// The keeper's first message: what the host is.
struct HelloMessage {
  std::string version;  // of the program
  // The id that hosts with one network stack have in common, on one machine since it has started;
  // empty: not known.
  std::string network;
  // The host has this name where the connection came from, and why.
  std::string address;
  std::string address_reason;
  std::vector<std::string> own_addresses;  // all but loopback, at most kMaxOwnAddresses
  bool shares_folder = false;              // whether the working folder of the client is there too
  job::Gpus gpus;                          // that may be used
  job::Containment containment = job::Containment::kSubreaper;  // that its tasks get
  std::string containment_lack;  // why no better one, where the best was wanted; else empty
  std::string engine;            // the client of its container engine; empty: it has none
  std::string engine_lack;       // why it has none; else empty
  // Facts for who only wants to know the host: "Linux 6.1.0 x86_64", and where gangrun keeps what
  // it has there, with the room that is left.
  std::string system;
  std::string folder;
  std::int64_t free_bytes = 0;

  static constexpr std::string_view kName = "hello";
  static constexpr auto rows() {
    return std::tuple(
        GANGRUN_EACH(base::row, HelloMessage, version, network, address, address_reason),
        base::row("own_addresses", &HelloMessage::own_addresses,
                  base::ListOf<base::Plain>{kMaxOwnAddresses}),
        GANGRUN_EACH(base::row, HelloMessage, shares_folder, gpus, containment, containment_lack,
                     engine, engine_lack, system, folder, free_bytes));
  }
  // Whether the addresses and the folder are some.
  [[nodiscard]] base::Result<> complete() const;
  void make_valid() {
    address = own_addresses.front() = "::1";
    folder = "/a";
  }
};

// The answer of gangrun: the job that the host is to have tasks of.
struct BeginMessage {
  std::string job_id;
  std::string run_folder;  // a name; empty: the host is new to the job, and a folder is made
  std::string address;     // by which tasks are to know the host, and why
  std::string address_reason;
  bool works_here = false;  // in the working folder of the client; else in one that is made
  bool outlives_us = false;
  std::map<std::string, std::string> environment;  // beside the host's own

  static constexpr std::string_view kName = "begin";
  static constexpr auto rows() {
    return std::tuple(base::row("job", &BeginMessage::job_id),
                      GANGRUN_EACH(base::row, BeginMessage, run_folder, address, address_reason,
                                   works_here, outlives_us, environment));
  }
};

// The keeper's word that the folder of the job on the host is made.
struct BegunMessage {
  std::string run_folder;

  static constexpr std::string_view kName = "begun";
  GANGRUN_ROWS(BegunMessage, run_folder);
};

// A file for the working folder: `size` bytes of file frames follow. Or a folder, of which nothing
// follows.
struct FileMessage {
  std::string name;  // relative; may have folders in it
  std::uint64_t size = 0;
  bool is_executable = false;
  bool is_folder = false;

  static constexpr std::string_view kName = "file";
  GANGRUN_ROWS(FileMessage, name, size, is_executable, is_folder);
};

// The first whole agent is 1.
struct StartMessage {
  std::uint32_t agent = 0;
  job::TaskId task;
  int attempt = 0;
  int gpus = 0;
  std::optional<std::uint16_t> wanted_port;  // where the task was before on this host
  std::vector<std::string> containers;       // cluster::Launch::containers
  // The keeper sets its paths, addresses and sockets.
  base::Json agent_config;

  static constexpr std::string_view kName = "start";
  GANGRUN_ROWS(StartMessage, agent, task, attempt, gpus, wanted_port, containers, agent_config);
};

// Logs are told from these offsets on.
struct AdoptMessage {
  std::uint32_t agent = 0;
  job::TaskId task;
  int attempt = 0;
  base::Json handle;
  std::uint64_t out_offset = 0;
  std::uint64_t error_offset = 0;

  static constexpr std::string_view kName = "adopt";
  GANGRUN_ROWS(AdoptMessage, agent, task, attempt, handle, out_offset, error_offset);
};

struct ReleaseOthersMessage {
  static constexpr std::string_view kName = "release_others";
  static constexpr auto rows() { return std::tuple(); }
};

struct StopMessage {
  std::uint32_t agent = 0;
  std::chrono::milliseconds grace{0};

  static constexpr std::string_view kName = "stop";
  static constexpr auto rows() {
    return std::tuple(base::row("agent", &StopMessage::agent),
                      base::row("grace_ms", &StopMessage::grace));
  }
};

// Says that the client lives. A keeper that hears nothing for kKeeperSilence takes the link for
// cut.
struct PingMessage {
  static constexpr std::string_view kName = "ping";
  static constexpr auto rows() { return std::tuple(); }
};
// The answer.
struct PongMessage {
  static constexpr std::string_view kName = "pong";
  static constexpr auto rows() { return std::tuple(); }
};
inline constexpr std::chrono::seconds kPingInterval(5);
// If nothing comes from a host for so long, nobody can tell whether its tasks end: two pings were
// not answered.
inline constexpr std::chrono::seconds kHostSilence = 2 * kPingInterval + std::chrono::seconds(2);
inline constexpr std::chrono::seconds kKeeperSilence(30);

// The files that tasks have written to the working folder that was made there are to be brought:
// all that is at `names`, and with `new_too`, what is new or has changed, up to `limit` bytes.
struct BringMessage {
  std::vector<std::string> names;
  bool new_too = false;
  std::uint64_t limit = 0;
  // In place of BeginMessage: the name of a folder that the host has kept of a job that is over.
  // Empty: that of the job that has begun.
  std::string run_folder{};
  bool only_rest = false;  // only what is over the limit

  static constexpr std::string_view kName = "bring";
  GANGRUN_ROWS(BringMessage, names, new_too, limit, run_folder, only_rest);
};

// For tasks of which these are to be kept (absent: what is new or has changed).
BringMessage bring_message(const std::vector<std::optional<std::vector<std::string>>>& outputs,
                           std::uint64_t limit);

// The answer: files, each followed by its bytes in file frames; links, which have a target; and
// empty folders.
struct OutputMessage {
  std::string name;
  std::uint64_t size = 0;
  bool is_executable = false;
  std::string target;  // empty: a file
  bool is_folder = false;

  static constexpr std::string_view kName = "output";
  GANGRUN_ROWS(OutputMessage, name, size, is_executable, target, is_folder);
};

// And its end.
struct BroughtMessage {
  std::vector<std::string> left;  // what is over the limit, at most kMaxNamedOutputs of it
  std::uint64_t left_files = 0;   // all of it
  std::uint64_t left_bytes = 0;
  std::vector<cluster::OddOutput> odd;  // what cannot be brought, at most kMaxNamedOutputs of it
  std::uint64_t odd_files = 0;          // all of it
  std::vector<std::string> missing;     // of the names
  std::string failure;                  // why not all was brought; empty: it was
  bool is_gone = false;                 // there is no such folder any more

  static constexpr std::string_view kName = "brought";
  GANGRUN_ROWS(BroughtMessage, left, left_files, left_bytes, odd, odd_files, missing, failure,
               is_gone);
};
inline constexpr std::size_t kMaxNamedOutputs = 5;

// The job is over: what the host has of it goes, but for what is kept, and the keeper too.
struct EndMessage {
  Kept kept = Kept::kNothing;

  static constexpr std::string_view kName = "end";
  GANGRUN_ROWS(EndMessage, kept);
};

// In place of BeginMessage: what the host has kept of a job goes.
struct RemoveMessage {
  std::string job_id;

  static constexpr std::string_view kName = "remove";
  static constexpr auto rows() { return std::tuple(base::row("job", &RemoveMessage::job_id)); }
};

struct RemovedMessage {
  std::uint64_t folders = 0;
  std::string left;  // a folder that is still there, and why; empty: none

  static constexpr std::string_view kName = "removed";
  GANGRUN_ROWS(RemovedMessage, folders, left);
};

// The host has nothing to give to an agent yet.
struct WaitingMessage {
  std::string reason;

  static constexpr std::string_view kName = "waiting";
  GANGRUN_ROWS(WaitingMessage, reason);
};

struct AllocatedMessage {
  std::uint32_t agent = 0;
  base::Json handle;

  static constexpr std::string_view kName = "allocated";
  GANGRUN_ROWS(AllocatedMessage, agent, handle);
};

// The lengths of its logs: what they have beyond the lines that were told is told yet.
struct EndedMessage {
  std::uint32_t agent = 0;
  job::Why why;
  std::uint64_t out_size = 0;
  std::uint64_t error_size = 0;
  std::optional<job::RunEnd> run{};  // what the agent could not tell its master

  static constexpr std::string_view kName = "ended";
  GANGRUN_ROWS(EndedMessage, agent, why, out_size, error_size, run);
};

// Logs of these agents were removed there: what they write from now on comes no more. Or the whole
// folder of the job was, which is no end of it.
struct LogsGoneMessage {
  std::vector<std::uint32_t> agents;
  bool is_folder_gone = false;

  static constexpr std::string_view kName = "logs_gone";
  GANGRUN_ROWS(LogsGoneMessage, agents, is_folder_gone);
};

// The word of gangrun that so many bytes of logs have come since the last one.
struct LogsTakenMessage {
  std::uint64_t bytes = 0;

  static constexpr std::string_view kName = "logs_taken";
  GANGRUN_ROWS(LogsTakenMessage, bytes);
};

// The keeper was told to go, and lets the job go: another one can have it.
struct LeavingMessage {
  static constexpr std::string_view kName = "leaving";
  static constexpr auto rows() { return std::tuple(); }
};

// The keeper cannot go on with the job, and ends.
struct RefusedMessage {
  std::string detail;

  static constexpr std::string_view kName = "refused";
  GANGRUN_ROWS(RefusedMessage, detail);
};

using KeeperMessage =
    std::variant<HelloMessage, BeginMessage, BegunMessage, FileMessage, StartMessage, AdoptMessage,
                 ReleaseOthersMessage, StopMessage, PingMessage, BringMessage, EndMessage,
                 RemoveMessage, WaitingMessage, AllocatedMessage, EndedMessage, OutputMessage,
                 BroughtMessage, RemovedMessage, RefusedMessage, LogsTakenMessage, LeavingMessage,
                 PongMessage, LogsGoneMessage>;

// Those that only a host sends.
template <typename T>
concept MessageOfAHost =
    base::OneOf<T, HelloMessage, BegunMessage, WaitingMessage, AllocatedMessage, EndedMessage,
                OutputMessage, BroughtMessage, RemovedMessage, LeavingMessage, RefusedMessage,
                PongMessage, LogsGoneMessage>;

base::Json to_json(const KeeperMessage& message);
// Whether a message of the client makes sense only once a job has begun.
bool is_of_a_job(const KeeperMessage& message);
base::Result<KeeperMessage> keeper_message_from_json(const base::Json& json);

}  // namespace gangrun::ssh
