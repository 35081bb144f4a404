#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/gpus.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "job/why.h"

// The messages between gangrun and a host's keeper, as JSON objects with a member "op".
namespace gangrun::cluster {

// More are of no use to choose from.
inline constexpr std::size_t kMaxOwnAddresses = 64;

// Of the keeper, first of all: what the host is.
struct HelloMessage {
  std::string version;  // of the program
  // What hosts with one network stack have in common, on one machine since it has started; empty:
  // not known.
  std::string network;
  // By which the host is known where the connection came from, and why.
  std::string address;
  std::string address_reason;
  std::vector<std::string> own_addresses;  // all but loopback, at most kMaxOwnAddresses
  bool shares_folder = false;              // whether the working folder of the client is there too
  job::Gpus gpus;                          // that may be used
  job::Containment containment = job::Containment::kSubreaper;  // that its tasks get
  std::string containment_lack;  // why no better one, where the best was wanted; else empty
  std::string engine;            // the client of its container engine; empty: it has none
  std::string engine_lack;       // why it has none; else empty
  // For who only wants to know the host: "Linux 6.1.0 x86_64", and where gangrun keeps what it has
  // there, with the room that is left.
  std::string system;
  std::string folder;
  std::int64_t free_bytes = 0;
};

// Of gangrun, the answer: the job that the host is to have tasks of.
struct BeginMessage {
  std::string job_id;
  std::string run_folder;  // a name; empty: the host is new to the job, and a folder is made
  std::string address;     // by which tasks are to know the host, and why
  std::string address_reason;
  bool works_here = false;  // in the working folder of the client; else in one that is made
  bool outlives_us = false;
  std::map<std::string, std::string> environment;  // beside the host's own
};

// Of the keeper: the folder of the job on the host is made.
struct BegunMessage {
  std::string run_folder;
};

// A file for the working folder: `size` bytes of file frames follow. Or a folder, of which nothing
// follows.
struct FileMessage {
  std::string name;  // relative; may have folders in it
  std::uint64_t size = 0;
  bool is_executable = false;
  bool is_folder = false;
};

// The first whole agent is 1.
struct StartMessage {
  std::uint32_t agent = 0;
  job::TaskId task;
  int attempt = 0;
  int gpus = 0;
  std::optional<std::uint16_t> wanted_port;  // where the task was before on this host
  std::vector<std::string> containers;       // cluster::Launch::containers
  // What it has of a path, an address or a socket is the keeper's to say.
  base::Json agent_config;
};

// Logs are told from these offsets on.
struct AdoptMessage {
  std::uint32_t agent = 0;
  job::TaskId task;
  int attempt = 0;
  base::Json handle;
  std::uint64_t out_offset = 0;
  std::uint64_t error_offset = 0;
};

struct ReleaseOthersMessage {};

struct StopMessage {
  std::uint32_t agent = 0;
  std::chrono::milliseconds grace{0};
};

// Says that the client lives. A keeper that hears nothing for kKeeperSilence takes the link for
// cut.
struct PingMessage {};
inline constexpr std::chrono::seconds kPingInterval(5);
inline constexpr std::chrono::seconds kKeeperSilence(30);

// The job is over: what the host has of it goes, and the keeper too.
struct EndMessage {};

// The host has nothing to give to an agent yet.
struct WaitingMessage {
  std::string reason;
};

struct AllocatedMessage {
  std::uint32_t agent = 0;
  base::Json handle;
};

// What its logs have beyond that which was told is told yet: they are so long.
struct EndedMessage {
  std::uint32_t agent = 0;
  job::Why why;
  std::uint64_t out_size = 0;
  std::uint64_t error_size = 0;
};

// Of gangrun: so many bytes of logs have come since the last one.
struct LogsTakenMessage {
  std::uint64_t bytes = 0;
};

// The keeper was told to go, and lets the job go: another one can have it.
struct LeavingMessage {};

// The keeper cannot go on with the job, and ends.
struct RefusedMessage {
  std::string detail;
};

using KeeperMessage =
    std::variant<HelloMessage, BeginMessage, BegunMessage, FileMessage, StartMessage, AdoptMessage,
                 ReleaseOthersMessage, StopMessage, PingMessage, EndMessage, WaitingMessage,
                 AllocatedMessage, EndedMessage, RefusedMessage, LogsTakenMessage, LeavingMessage>;

base::Json to_json(const KeeperMessage& message);
base::Result<KeeperMessage> keeper_message_from_json(const base::Json& json);

}  // namespace gangrun::cluster
