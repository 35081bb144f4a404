#include "job/spec_names.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

constexpr std::array kPolicies = {Policy::kTracked, Policy::kService, Policy::kObserver,
                                  Policy::kSidecar};
constexpr std::array kScopes = {RestartScope::kTask, RestartScope::kGang, RestartScope::kNone};
constexpr std::array kContainments = {Containment::kAuto, Containment::kPidNamespace,
                                      Containment::kCgroup, Containment::kSubreaper};
constexpr std::array kHolds = {Hold::kUntilBind, Hold::kUntilExec};
constexpr std::array kExposes = {Expose::kLoopback, Expose::kHost};
constexpr std::array kStopSignals = {StopSignal::kTerm, StopSignal::kInt,  StopSignal::kHup,
                                     StopSignal::kQuit, StopSignal::kUsr1, StopSignal::kUsr2};
constexpr std::array kStopSignalTos = {StopSignalTo::kProcess, StopSignalTo::kGroup};
constexpr std::array kNoticeSignals = {NoticeSignal::kUsr1, NoticeSignal::kUsr2,
                                       NoticeSignal::kTerm, NoticeSignal::kInt,
                                       NoticeSignal::kNone};
constexpr std::array kFrameworks = {Framework::kTensorflow, Framework::kPytorch, Framework::kJax,
                                    Framework::kHorovod};

// "USR1" or "SIGUSR1".
template <typename Values>
base::Result<typename Values::value_type> find_signal(const Values& values, std::string_view text,
                                                      std::string_view what) {
  constexpr std::string_view kPrefix = "SIG";
  for (const auto value : values) {
    const std::string_view name = to_string(value);
    const bool is_long = text.starts_with(kPrefix) && text.substr(kPrefix.size()) == name;
    if (text == name || (is_long && name != "none")) return value;
  }
  return not_one_of(text, what, choice_names(values));
}

}  // namespace

base::Error not_one_of(std::string_view text, std::string_view what,
                       const std::vector<std::string>& allowed) {
  const auto meant = base::nearest(text, allowed);
  return base::invalid_argument(base::format(
      "{} is not {}{} allowed: {}", in_quotes(text), what,
      meant ? base::format("; did you mean '{}'?", *meant) : ";", base::join(allowed, ", ")));
}

std::vector<std::string> policy_names() { return choice_names(kPolicies); }
std::vector<std::string> restart_scope_names() { return choice_names(kScopes); }
std::vector<std::string> containment_names() { return choice_names(kContainments); }

std::vector<std::string> hold_names() { return choice_names(kHolds); }
std::vector<std::string> expose_names() { return choice_names(kExposes); }
std::vector<std::string> stop_signal_names() { return choice_names(kStopSignals); }
std::vector<std::string> stop_signal_to_names() { return choice_names(kStopSignalTos); }
std::vector<std::string> notice_signal_names() { return choice_names(kNoticeSignals); }

std::vector<std::string> framework_names() {
  std::vector<std::string> names = choice_names(kFrameworks);
  names.emplace_back("none");
  return names;
}

base::Result<Policy> policy_from(std::string_view text) {
  return find_choice(kPolicies, text, "a policy");
}

base::Result<RestartScope> restart_scope_from(std::string_view text) {
  return find_choice(kScopes, text, "a scope of restarts");
}

base::Result<Containment> containment_from(std::string_view text) {
  return find_choice(kContainments, text, "a containment");
}

base::Result<Hold> hold_from(std::string_view text) {
  return find_choice(kHolds, text, "a time until which ports are held");
}

base::Result<Expose> expose_from(std::string_view text) {
  return find_choice(kExposes, text, "who reaches a port");
}

base::Result<StopSignal> stop_signal_from(std::string_view text) {
  return find_signal(kStopSignals, text, "a signal to stop by");
}

base::Result<StopSignalTo> stop_signal_to_from(std::string_view text) {
  return find_choice(kStopSignalTos, text, "who gets the signal to stop");
}

base::Result<NoticeSignal> notice_signal_from(std::string_view text) {
  return find_signal(kNoticeSignals, text, "a signal for notices");
}

int number_of(StopSignal signal) {
  switch (signal) {
    case StopSignal::kTerm: return SIGTERM;
    case StopSignal::kInt: return SIGINT;
    case StopSignal::kHup: return SIGHUP;
    case StopSignal::kQuit: return SIGQUIT;
    case StopSignal::kUsr1: return SIGUSR1;
    case StopSignal::kUsr2: return SIGUSR2;
  }
  return SIGTERM;
}

int number_of(NoticeSignal signal) {
  switch (signal) {
    case NoticeSignal::kNone: return 0;
    case NoticeSignal::kUsr1: return SIGUSR1;
    case NoticeSignal::kUsr2: return SIGUSR2;
    case NoticeSignal::kTerm: return SIGTERM;
    case NoticeSignal::kInt: return SIGINT;
  }
  return 0;
}

base::Result<Framework> framework_from(std::string_view text) {
  for (const auto framework : kFrameworks) {
    if (to_string(framework) == text) return framework;
  }
  return not_one_of(text, "a framework", framework_names());
}

base::Result<std::vector<Framework>> frameworks_from(const std::vector<std::string>& names) {
  std::vector<Framework> frameworks;
  if (names.empty()) {
    return base::invalid_argument(
        base::format("no framework is named; allowed: {}", base::join(framework_names(), ", ")));
  }
  if (names.size() == 1 && names.front() == "none") return frameworks;
  for (const std::string& name : names) {
    if (name == "none") return base::invalid_argument("'none' stands alone or not at all");
    GANGRUN_ASSIGN(const Framework framework, framework_from(name));
    if (std::find(frameworks.begin(), frameworks.end(), framework) != frameworks.end()) {
      return base::invalid_argument(base::format("{} is named twice", in_quotes(name)));
    }
    frameworks.push_back(framework);
  }
  return frameworks;
}

}  // namespace gangrun::job
