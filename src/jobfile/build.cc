#include "jobfile/build.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/spec_names.h"
#include "jobfile/merge.h"
#include "jobfile/validate.h"

namespace gangrun::jobfile {

namespace {

using base::Result;

constexpr std::string_view kTensorboardType = "tensorboard";

// Whether an origin is the flag that is called as the path is: "--name: " of "name".
bool is_flag_of(std::string_view origin, std::string path) {
  std::ranges::replace(path, '_', '-');
  return origin == base::format("--{}: ", path);
}

// The longest part of the problem's path whose origin is known says where the value stands.
base::Error locate(const Problem& problem, const JobDraft& draft) {
  std::string path = problem.path;
  while (true) {
    const auto found = draft.origins.find(path);
    if (found != draft.origins.end()) {
      if (is_flag_of(found->second, problem.path)) {
        return base::invalid_argument(found->second + problem.text);
      }
      return base::invalid_argument(
          base::format("{}{}: {}", found->second, problem.path, problem.text));
    }
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) break;
    path.resize(dot);
  }
  return base::invalid_argument(base::format("{}: {}", problem.path, problem.text));
}

// `text` with what a name cannot have replaced; empty if nothing is left.
std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (base::is_letter_or_digit(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += c == '.' || c == '_' ? c : '-';
    }
  }
  if (name.size() > job::kMaxNameBytes) name.resize(job::kMaxNameBytes);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

std::string stem_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string_view file = path;
  if (slash != std::string::npos) file.remove_prefix(slash + 1);
  return as_name(file.substr(0, file.rfind('.')));
}

// Roughly as a shell reads it: good enough for a name.
void add_words_of_line(std::string_view line, std::vector<std::string>& words) {
  constexpr std::string_view kBetween = " \t\r\n;&|()<>'\"`";
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find_first_not_of(kBetween), line.size());
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kBetween), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// Whether the word is the last one of `bash -lc '…'`, wherever the shell stands before it.
bool is_shell_line(const std::vector<std::string>& words, std::size_t index) {
  if (index < 2 || !words[index - 1].starts_with('-') || !words[index - 1].ends_with('c')) {
    return false;
  }
  return std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(index - 1),
                     [](const std::string& word) { return word.ends_with("sh"); });
}

std::vector<std::string> words_of(const job::Command& command) {
  std::vector<std::string> words;
  add_words_of_line(command.shell_line, words);
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    if (is_shell_line(command.words, i)) {
      add_words_of_line(command.words[i], words);
    } else {
      words.push_back(command.words[i]);
    }
  }
  return words;
}

// "job.yaml" → "job"; "python train.py --out x" → "train"; "/bin/true" → "true".
std::string name_by_file(const job::JobSpec& spec, const Defaults& defaults) {
  std::string name = stem_of(defaults.spec_path);
  if (!name.empty()) return name;
  const std::vector<std::string> words = words_of(spec.command);
  for (const std::string& word : words) {
    if (word.ends_with(".py") || word.ends_with(".sh")) name = stem_of(word);
    if (!name.empty()) return name;
  }
  return words.empty() ? "" : stem_of(words.front());
}

std::string default_name(const job::JobSpec& spec, const Defaults& defaults) {
  std::string name = name_by_file(spec, defaults);
  return name.empty() || name == job::kNewestJob ? "job" : name;
}

// The folder, and who reaches it. The task's own Python goes first: an environment brings the
// module, and its folder of programs need not be on the PATH. `env` is where the Python package
// puts an environment.
constexpr std::string_view kTensorboardScript = R"(set -- {} {} --port "$GANGRUN_PORT"
for python in env/bin/python python python3; do
  "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("tensorboard.main"))' 2>/dev/null &&
    exec "$python" -m tensorboard.main --logdir "$@"
done
command -v tensorboard >/dev/null && exec tensorboard --logdir "$@"
echo "gangrun: TensorBoard is not installed here: python and python3 have no module tensorboard," \
  "and the PATH has no program tensorboard; install it in the task's environment, or give it a command of its own" >&2
exit 127)";

job::Command tensorboard_command(const job::TaskSpec& task) {
  const std::string_view reach =
      task.expose == job::Expose::kHost ? "--bind_all" : "--host 127.0.0.1";
  return {{}, base::format(kTensorboardScript, base::shell_quote(task.logdir), reach)};
}

// The fields of a task type that follow from its others.
Result<> complete_task(const JobDraft& draft, job::TaskSpec& task) {
  const auto is_given = [&](std::string_view path) {
    return draft.is_given(base::format("tasks.{}.{}", task.type, path));
  };
  if (!task.ports.names.empty() && !is_given("ports.n")) {
    task.ports.count = static_cast<int>(task.ports.names.size());
  }
  std::erase_if(task.overrides,
                [](const auto& own) { return own.second == job::ResourceOverride{}; });
  if (!is_given("policy")) task.policy = job::default_policy(task.type);
  if (!is_given("grace") && task.policy == job::Policy::kObserver)
    task.grace = kDefaultObserverGrace;
  if (!task.command.empty() || is_given("command") || task.type != kTensorboardType) return {};
  if (task.logdir.empty()) {
    return base::invalid_argument(
        "tensorboard has no folder to show; give it `logdir`, or its own `command`");
  }
  task.command = tensorboard_command(task);
  return {};
}

Result<job::JobSpec> complete(const JobDraft& draft, const Defaults& defaults) {
  job::JobSpec spec = draft.spec;
  for (job::TaskSpec& task : spec.tasks) {
    const auto completed = complete_task(draft, task);
    if (!completed.ok()) return locate({"tasks." + task.type, completed.error().message}, draft);
  }
  if (!draft.is_given("name")) spec.name = default_name(draft.spec, defaults);
  // A notice is no order to stop.
  if (!draft.is_given("notice_signal") && spec.stop_signal == job::StopSignal::kUsr1) {
    spec.notice_signal = job::NoticeSignal::kUsr2;
  }
  return spec;
}

// Takes a field that a file has given away; one of a flag stays, to be refused.
template <typename T>
void leave_out(JobDraft& draft, const std::string& path, T& field,
               std::vector<std::string>& left_out) {
  const auto origin = draft.origins.find(path);
  if (origin == draft.origins.end() || origin->second.starts_with("--")) return;
  field = T{};
  draft.origins.erase(origin);
  left_out.push_back(path);
}

// A file that was written for one place is tried at another by `--on`: what it says of where tasks
// are is about the first one. `named`: by the file; null where it names none.
std::vector<std::string> leave_out_placement(const PlaceRules* named, const PlaceRules& own,
                                             JobDraft& draft) {
  std::vector<std::string> left_out;
  const auto has = [](const PlaceRules& place, Feature feature) {
    return std::ranges::count(place.features, feature) > 0 ||
           std::ranges::count(place.without_use, feature) > 0;
  };
  if (named != nullptr && named->section != nullptr && own.section != nullptr) {
    const std::string prefix = named->name + ".";
    const auto given = draft.origins.lower_bound(prefix);
    if (given != draft.origins.end() && given->first.starts_with(prefix)) {
      left_out.push_back(named->name);
    }
  }
  if (!has(own, Feature::kHosts) || (named != nullptr && own.is_beside_master)) {
    leave_out(draft, "hosts", draft.spec.hosts, left_out);
  }
  for (job::TaskSpec& task : draft.spec.tasks) {
    const auto path = [&](std::string_view key) {
      return base::format("tasks.{}.{}", task.type, key);
    };
    if (!has(own, Feature::kLabels)) leave_out(draft, path("label"), task.label, left_out);
    if (!has(own, Feature::kOnePerNode)) {
      leave_out(draft, path("one_per_node"), task.one_per_node, left_out);
    }
  }
  return left_out;
}

}  // namespace

Result<job::JobSpec> build(const std::optional<JobDraft>& draft, const Flags& flags,
                           const Defaults& defaults) {
  JobDraft merged = draft.value_or(JobDraft{});
  static const RulesOfPlaces kNone;
  const RulesOfPlaces& places = defaults.places == nullptr ? kNone : *defaults.places;
  const bool names_place = merged.is_given("on") && !merged.is_default("on");
  const PlaceRules* named = names_place ? places.find(merged.spec.on) : nullptr;
  GANGRUN_TRY(merge_flags(flags, places, merged));
  std::vector<std::string> left_out;
  const PlaceRules* own = places.find(merged.spec.on);
  if (own != nullptr && own != named && draft) left_out = leave_out_placement(named, *own, merged);
  if (own != nullptr && own->section != nullptr)
    merged.spec.sections.open(own->section->key, own->section->make);
  GANGRUN_ASSIGN(job::JobSpec spec, complete(merged, defaults));
  const auto problem = defaults.places == nullptr ? find_problem(spec) : find_problem(spec, places);
  if (problem) {
    const bool is_right = own != nullptr && !find_problem(spec) && !places.check_options(spec);
    if (defaults.refused_here != nullptr && is_right) *defaults.refused_here = problem->path;
    return locate(*problem, merged);
  }
  if (defaults.sources != nullptr) {
    *defaults.sources = {.origins = std::move(merged.origins),
                         .defaults = std::move(merged.defaults)};
  }
  if (defaults.without_use != nullptr) {
    *defaults.without_use = places.without_use(spec);
    defaults.without_use->insert(defaults.without_use->end(), left_out.begin(), left_out.end());
  }
  return spec;
}

}  // namespace gangrun::jobfile
