#include "job/spec_names.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

constexpr std::array kFrameworks = {Framework::kTensorflow, Framework::kPytorch, Framework::kJax,
                                    Framework::kHorovod};

// "USR1" or "SIGUSR1".
template <typename Signal>
base::Result<Signal> signal_from(std::string_view text) {
  constexpr std::string_view kPrefix = "SIG";
  for (const Signal value : ChoiceOf<Signal>::kValues) {
    const std::string_view name = to_string(value);
    const bool is_long = text.starts_with(kPrefix) && text.substr(kPrefix.size()) == name;
    if (text == name || (is_long && name != "none")) return value;
  }
  return not_one_of(text, ChoiceOf<Signal>::kWhat, choice_names<Signal>());
}

}  // namespace

template <>
base::Result<StopSignal> choice_from(std::string_view text) {
  return signal_from<StopSignal>(text);
}

template <>
base::Result<NoticeSignal> choice_from(std::string_view text) {
  return signal_from<NoticeSignal>(text);
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

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  names.reserve(kFrameworks.size() + 1);
  for (const Framework framework : kFrameworks) names.emplace_back(to_string(framework));
  names.emplace_back("none");
  return names;
}

base::Result<Framework> framework_from(std::string_view text) {
  // Their own pages write PyTorch and TensorFlow.
  const std::string name = base::in_small_letters(text);
  for (const auto framework : kFrameworks) {
    if (to_string(framework) == name) return framework;
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
