#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/choice.h"
#include "job/spec.h"

namespace gangrun::job {

// The word that commands take for the newest job, so that no job has this name.
inline constexpr std::string_view kNewestJob = "last";

template <>
struct ChoiceOf<Policy> {
  static constexpr std::string_view kWhat = "a policy";
  static constexpr std::array kValues = {Policy::kTracked, Policy::kService, Policy::kObserver,
                                         Policy::kSidecar};
};

template <>
struct ChoiceOf<Framework> {
  static constexpr std::string_view kWhat = "a framework";
  static constexpr std::array kValues = {Framework::kTensorflow, Framework::kPytorch,
                                         Framework::kJax, Framework::kHorovod};
};

template <>
struct ChoiceOf<RestartScope> {
  static constexpr std::string_view kWhat = "a scope of restarts";
  static constexpr std::array kValues = {RestartScope::kTask, RestartScope::kGang,
                                         RestartScope::kNone};
};

template <>
struct ChoiceOf<Containment> {
  static constexpr std::string_view kWhat = "a containment";
  static constexpr std::array kValues = {Containment::kAuto, Containment::kPidNamespace,
                                         Containment::kCgroup, Containment::kSubreaper};
};

template <>
struct ChoiceOf<ZooKeeperLogin> {
  static constexpr std::string_view kWhat = "a login";
  static constexpr std::array kValues = {ZooKeeperLogin::kNone, ZooKeeperLogin::kDigest,
                                         ZooKeeperLogin::kKerberos};
};

template <>
struct ChoiceOf<Hold> {
  static constexpr std::string_view kWhat = "a time until which ports are held";
  static constexpr std::array kValues = {Hold::kUntilBind, Hold::kUntilExec};
};

template <>
struct ChoiceOf<Expose> {
  static constexpr std::string_view kWhat = "who reaches a port";
  static constexpr std::array kValues = {Expose::kLoopback, Expose::kHost};
};

template <>
struct ChoiceOf<StopSignal> {
  static constexpr std::string_view kWhat = "a signal to stop by";
  static constexpr std::string_view kPrefix = "SIG";
  static constexpr std::array kValues = {StopSignal::kTerm, StopSignal::kInt,  StopSignal::kHup,
                                         StopSignal::kQuit, StopSignal::kUsr1, StopSignal::kUsr2};
};

template <>
struct ChoiceOf<StopSignalTo> {
  static constexpr std::string_view kWhat = "who gets the signal to stop";
  static constexpr std::array kValues = {StopSignalTo::kProcess, StopSignalTo::kGroup};
};

template <>
struct ChoiceOf<NoticeSignal> {
  static constexpr std::string_view kWhat = "a signal for notices";
  static constexpr std::string_view kPrefix = "SIG";
  static constexpr std::array kValues = {NoticeSignal::kUsr1, NoticeSignal::kUsr2,
                                         NoticeSignal::kTerm, NoticeSignal::kInt,
                                         NoticeSignal::kNone};
};

// A signal may also be written "SIGUSR1".
template <>
base::Result<StopSignal> choice_from(std::string_view text);
template <>
base::Result<NoticeSignal> choice_from(std::string_view text);

// As <csignal> has it; 0 for none.
constexpr int number_of(StopSignal signal) { return static_cast<int>(signal); }
constexpr int number_of(NoticeSignal signal) { return static_cast<int>(signal); }

// All of them, and "none".
std::vector<std::string> framework_names();
base::Result<Framework> framework_from(std::string_view text);
// All of them; {"none"} is the empty list, and "none" beside another an error, as is a double.
base::Result<std::vector<Framework>> frameworks_from(const std::vector<std::string>& names);

}  // namespace gangrun::job
