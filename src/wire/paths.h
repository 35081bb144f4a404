#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

// The paths of the registry's services, and the limits of its REST interface.
namespace gangrun::wire {

inline constexpr std::string_view kAgentPath = "/v1/agent";
inline constexpr std::string_view kStatusPath = "/v1/status";
inline constexpr std::string_view kClusterSpecPath = "/v1/cluster-spec";
inline constexpr std::string_view kTasksPath = "/v1/tasks/";
inline constexpr std::string_view kStopPath = "/v1/stop";
inline constexpr std::string_view kNoticePath = "/v1/notice";
inline constexpr std::string_view kAskPath = "/v1/ask";
inline constexpr std::string_view kLinesPath = "/v1/lines";
inline constexpr std::string_view kJoinPath = "/v1/join";
inline constexpr std::string_view kRendezvousPath = "/v1/rendezvous/";
// Outputs that a master keeps: the list, and below it "TASK/NAME" of a file and "TASK" of all.
inline constexpr std::string_view kOutputsPath = "/v1/outputs";
// The paths of an agent's services.
inline constexpr std::string_view kMasterPath = "/v1/master";
inline constexpr std::string_view kExecPath = "/v1/exec";

// The longest wait of one request for the cluster spec, and how many may wait at once.
inline constexpr std::chrono::seconds kMaxSpecWait{60};
inline constexpr std::size_t kMaxSpecWaiters = 20'000;
// The same for the tasks' output; what came meanwhile is answered together.
inline constexpr std::chrono::seconds kMaxLinesWait{30};
inline constexpr std::size_t kMaxLinesWaiters = 100;
inline constexpr std::chrono::milliseconds kLinesDelay{50};
// The limit for the bodies that are sent to the registry; the body of a rendezvous key has the
// limit of a value instead.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 10U;
// As many bytes of a kept output one answer has at most.
inline constexpr std::size_t kMaxOutputAnswerBytes = std::size_t{8} << 20U;
// An agent says this when it leaves its session; ": " and why may follow.
inline constexpr std::string_view kFarewell = "done";
// The limit for the name of who asks for a stop.
inline constexpr std::size_t kMaxByBytes = 200;

}  // namespace gangrun::wire
