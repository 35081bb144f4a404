#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::job {

// What commands take for the newest job, so that no job has this name.
inline constexpr std::string_view kNewestJob = "last";

// "'trackd' is not a policy; did you mean 'tracked'? allowed: tracked, service, …"
base::Error not_one_of(std::string_view text, std::string_view what,
                       const std::vector<std::string>& allowed);

// Of a list of all values of such a choice.
template <typename Values>
std::vector<std::string> choice_names(const Values& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const auto value : values) names.emplace_back(to_string(value));
  return names;
}
template <typename Values>
base::Result<typename Values::value_type> find_choice(const Values& values, std::string_view text,
                                                      std::string_view what) {
  for (const auto value : values) {
    if (to_string(value) == text) return value;
  }
  return not_one_of(text, what, choice_names(values));
}

// Every name that a field of a fixed choice may have, in the order in which errors list them.
std::vector<std::string> policy_names();
std::vector<std::string> restart_scope_names();
std::vector<std::string> containment_names();
std::vector<std::string> hold_names();
std::vector<std::string> expose_names();
std::vector<std::string> stop_signal_names();
std::vector<std::string> stop_signal_to_names();
std::vector<std::string> notice_signal_names();
// All of them, and "none".
std::vector<std::string> framework_names();

// The inverse of to_string(). The error gives the text, what is allowed, and a near name.
base::Result<Policy> policy_from(std::string_view text);
base::Result<RestartScope> restart_scope_from(std::string_view text);
base::Result<Containment> containment_from(std::string_view text);
base::Result<Hold> hold_from(std::string_view text);
base::Result<Expose> expose_from(std::string_view text);
// A signal may also be written "SIGUSR1".
base::Result<StopSignal> stop_signal_from(std::string_view text);
base::Result<StopSignalTo> stop_signal_to_from(std::string_view text);
base::Result<NoticeSignal> notice_signal_from(std::string_view text);
base::Result<Framework> framework_from(std::string_view text);

// The same by type, for code that is written once for all of them.
template <auto kNames, auto kFrom>
struct Choice {
  static constexpr auto names = kNames;
  static constexpr auto from = kFrom;
};
template <typename T>
struct ChoiceOf;
template <>
struct ChoiceOf<Policy> : Choice<policy_names, policy_from> {};
template <>
struct ChoiceOf<RestartScope> : Choice<restart_scope_names, restart_scope_from> {};
template <>
struct ChoiceOf<Containment> : Choice<containment_names, containment_from> {};
template <>
struct ChoiceOf<Hold> : Choice<hold_names, hold_from> {};
template <>
struct ChoiceOf<Expose> : Choice<expose_names, expose_from> {};
template <>
struct ChoiceOf<StopSignal> : Choice<stop_signal_names, stop_signal_from> {};
template <>
struct ChoiceOf<StopSignalTo> : Choice<stop_signal_to_names, stop_signal_to_from> {};
template <>
struct ChoiceOf<NoticeSignal> : Choice<notice_signal_names, notice_signal_from> {};

// As <csignal> has it; 0 for none.
int number_of(StopSignal signal);
int number_of(NoticeSignal signal);

// All of them; {"none"} is the empty list, and "none" beside another an error, as is a double.
base::Result<std::vector<Framework>> frameworks_from(const std::vector<std::string>& names);

}  // namespace gangrun::job
