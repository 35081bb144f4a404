#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/forgotten_dashes.h"
#include "cli/help.h"
#include "cli/typed_flags.h"
#include "client/command.h"
#include "client/default_files.h"
#include "client/place.h"
#include "client/prepare.h"
#include "host/processes.h"
#include "job/choice.h"
#include "job/spec_names.h"
#include "job/units.h"
#include "jobfile/default_files.h"
#include "places/places.h"

namespace gangrun::cli {

namespace {

constexpr std::string_view kProgram = "gangrun";
// Hidden: the place of jobs that name none. The Python package prepares a job for its place.
constexpr std::string_view kDefaultPlaceCommand = "default-place";
// A word in place of a command.
constexpr std::string_view kHelp = "help";
// The command whose words after "--" are that of tasks, and the one whose are another's beside one.
constexpr std::string_view kCommandWithWords = "run";
constexpr std::string_view kCommandBeside = "exec";

// The names of commands in other programs of this kind.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"list", "ps"},         {"ls", "ps"},         {"jobs", "ps"},        {"stop", "kill"},
    {"cancel", "kill"},     {"end", "kill"},      {"submit", "run"},     {"start", "run"},
    {"launch", "run"},      {"enter", "exec"},    {"delete", "rm"},      {"remove", "rm"},
    {"describe", "status"}, {"info", "status"},   {"show", "status"},    {"tail", "logs"},
    {"log", "logs"},        {"output", "logs"},   {"top", "attach"},     {"watch", "attach"},
    {"check", "doctor"},    {"forward", "open"},  {"get", "fetch"},      {"download", "fetch"},
    {"terminate", "kill"},  {"shutdown", "kill"}, {"abort", "kill"},     {"quit", "kill"},
    {"halt", "kill"},       {"down", "kill"},     {"queue", "ps"},       {"squeue", "ps"},
    {"up", "run"},          {"sbatch", "run"},    {"inspect", "status"}, {"shell", "exec"},
};

// The names of flags of `run` in other programs, where ours has another form.
constexpr std::pair<std::string_view, std::string_view> kOtherFlags[] = {
    {"--nnodes", "-r worker:N"},
    {"--np", "-r worker:N"},
    {"--num-proc", "-r worker:N"},
    {"--workers", "-r worker:N"},
    {"--num-workers", "-r worker:N"},
    {"--num_workers", "-r worker:N"},
    {"--ntasks", "-r worker:N"},
    {"--instances", "-r worker:N"},
    {"--replicas", "-r worker:N"},
    {"-w", "-r worker:N"},
    {"-N", "-r worker:N"},
    {"-H", "--hosts"},
    {"--host-list", "--hosts"},
    {"--nproc-per-node", "--processes"},
    {"--nproc_per_node", "--processes"},
    {"--ntasks-per-node", "--processes"},
    {"--num-ps", "-r ps:N"},
    {"--num_ps", "-r ps:N"},
};

// These words ask for the version and for help too, as in every program.
std::vector<std::string> in_our_words(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments.front() == "--version" || arguments.front() == "-v" || arguments.front() == "-V") {
    arguments.front() = "version";
  } else if (arguments.front() == kHelp) {
    std::erase(arguments, kHelp);
    arguments.emplace_back("--help");
  }
  return arguments;
}

const client::Command* chosen_command(const CLI::App& app, const client::Command& program) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return nullptr;
  return &*std::ranges::find(program.commands, chosen.front()->get_name(), &client::Command::name);
}

std::string see_help(const client::Command* command) {
  return command == nullptr ? std::string("; see gangrun --help")
                            : base::format("; see gangrun {} --help", command->name);
}

// The words after `run` that have no flag and are no part of the tasks' command.
std::vector<std::string> bare_words(const CLI::App& app, const client::Command& run) {
  std::vector<std::string> words = app.remaining(true);
  const std::string& job_file = *std::get<std::string*>(run.words.front().target);
  if (!job_file.empty()) words.insert(words.begin(), job_file);
  return words;
}

// The only one that begins so. Fewer letters are of too many words.
std::optional<std::string> only_one_with_beginning(const std::string& word,
                                                   const std::vector<std::string>& known) {
  constexpr std::size_t kFewestLetters = 2;
  if (word.size() < kFewestLetters) return std::nullopt;
  const auto begins_so = [&](const std::string& one) { return one.starts_with(word); };
  const auto found = std::ranges::find_if(known, begins_so);
  if (found == known.end() || std::ranges::count_if(known, begins_so) > 1) return std::nullopt;
  return *found;
}

// A name that is cut short is farther away by edits than a slip of the finger.
std::optional<std::string> nearest_or_longer(const std::string& word,
                                             const std::vector<std::string>& known) {
  const auto longer = only_one_with_beginning(word, known);
  return longer ? longer : base::nearest(word, known);
}

// Flags are called as keys are, also in other programs.
std::optional<std::string> meant_word(const std::string& word,
                                      const std::vector<std::string>& known) {
  constexpr std::string_view kDashes = "--";
  if (!word.starts_with(kDashes)) return nearest_or_longer(word, known);
  std::vector<std::string> names;
  for (const std::string& flag : known) names.push_back(flag.substr(kDashes.size()));
  const std::string name = word.substr(kDashes.size());
  const auto same = job::same_name(name, names);
  const auto meant = same ? same : nearest_or_longer(name, names);
  if (!meant) return std::nullopt;
  return std::string(kDashes) + *meant;
}

// The command or flag that an unknown word may have meant. `given` is all that stands before a
// "--", or nothing.
std::string explain_extra(const CLI::App& app, const client::Command& program,
                          const std::string& word, const std::vector<std::string>& given,
                          const jobfile::RulesOfPlaces& places) {
  const client::Command* command = chosen_command(app, program);
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  std::string what = "unexpected argument";
  if (word.size() > 1 && word.front() == '-') {
    what = "unknown flag";
    for (const client::Flag& flag : (command == nullptr ? program : *command).flags) {
      std::ranges::copy_if(names_of(flag), std::back_inserter(known),
                           [](const std::string& n) { return n.starts_with("--"); });
    }
    if (command == nullptr) known.emplace_back("--version");
  } else if (command == nullptr) {
    what = "unknown command";
    for (const client::Command& one : program.commands) known.push_back(one.name);
    known.emplace_back(kHelp);
  }
  std::string sentence = base::format("{} {}", what, job::in_quotes(name));
  if (command != nullptr && flag_named(*command, name) != nullptr) {
    return base::format("flag {} comes after its command: gangrun {} {}", job::in_quotes(name),
                        command->name, name);
  }
  if (command != nullptr && command->name == kCommandBeside && !given.empty()) {
    return sentence + "; put -- before the command";
  }
  if (command != nullptr && command->name == kCommandWithWords) {
    const auto roles =
        word.starts_with('-') ? std::nullopt : client::meant_as_roles(bare_words(app, *command));
    if (roles) return base::format("{}; to start these tasks, use {}", sentence, *roles);
    if (const auto line = line_with_dashes(*command, given, word)) {
      return base::format("{}; put -- before the tasks' command: {}", sentence, *line);
    }
    for (const auto& [other, ours] : kOtherFlags) {
      if (name == other) return sentence + base::format("; did you mean {}?", ours);
    }
    for (const std::string& place : places.names()) {
      if (name == "--" + place) return sentence + base::format("; did you mean --on {}?", place);
    }
  }
  if (command == nullptr && what == "unknown command") {
    if (client::is_named_as_job_file(word)) {
      return sentence + base::format("; did you mean gangrun run {}?", base::shell_quote(word));
    }
    for (const auto& [other, ours] : kOtherNames) {
      if (name == other) return sentence + base::format("; did you mean {}?", ours);
    }
  }
  if (const auto meant = meant_word(name, known)) {
    return sentence + base::format("; did you mean {}?", *meant);
  }
  return sentence + see_help(command);
}

std::string explain(const client::Command* command, const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (error.get_name() == "ArgumentMismatch") {
    text = base::format("{} needs a value", text.substr(0, text.find(':')));
  }
  return text + see_help(command);
}

client::ExitStatus bad_usage(client::Context& context, const std::string& sentence) {
  context.console.error(sentence);
  return client::ExitStatus::kBadInput;
}

client::ExitStatus tell_default_place(client::Context& context) {
  const auto place = [&]() -> base::Result<std::string> {
    GANGRUN_ASSIGN(const auto files, client::read_default_files(context));
    return jobfile::default_place(files, context.places.rules());
  }();
  if (!place.ok()) return fail(context, place.error(), client::ExitStatus::kBadInput);
  context.console.out(*place + "\n");
  return client::ExitStatus::kSuccess;
}

// The processes of a detached job, which start each other (host/processes.h), what masters have
// done on the side, and what the Python package asks.
std::optional<client::ExitStatus> run_as_process(const std::vector<std::string>& arguments,
                                                 client::Context& context) {
  const auto descriptor = [&](std::size_t position) {
    return static_cast<int>(base::parse_integer(arguments[position]).value_or(-1));
  };
  if (arguments.size() == 3 && arguments[0] == "supervise") {
    switch (host::run_supervisor(context.program, context.clock, arguments[1], descriptor(2))) {
      case host::Supervised::kEnded: return client::ExitStatus::kSuccess;
      case host::Supervised::kCouldNotStart: return client::ExitStatus::kCouldNotStart;
      case host::Supervised::kFailed: return client::ExitStatus::kFailed;
    }
  }
  if (arguments.size() == 4 && arguments[0] == "master") {
    const auto backend_of = [&](const job::JobSpec& spec) -> std::unique_ptr<host::Backend> {
      const client::Place* place = context.places.find(spec.on);
      return place == nullptr || !place->launch.backend ? nullptr : place->launch.backend();
    };
    const auto ended = host::run_master(context.clock, context.commanded_at, arguments[1],
                                        descriptor(2), base::UniqueFd(descriptor(3)),
                                        context.places.rules().sections(), backend_of);
    if (!ended.ok()) return fail(context, ended.error(), client::ExitStatus::kCouldNotStart);
    return client::ExitStatus::kSuccess;
  }
  if (arguments.size() == 1 && arguments[0] == kDefaultPlaceCommand) {
    return tell_default_place(context);
  }
  if (arguments.size() == 2) return places::run_errand(arguments[0], arguments[1], context);
  return std::nullopt;
}

// A task that stands where a job does is one of the last job: no job's name has a colon.
void take_task(std::string& job, const client::Word& task) {
  if (job.find(':') == std::string::npos) return;
  const std::string last(job::kNewestJob);
  std::visit(base::Overloaded{[&](std::string* name) {
                                if (name->empty()) *name = std::exchange(job, last);
                              },
                              [](std::optional<std::string>*) {},  // no task's name is one
                              [&](std::vector<std::string>* names) {
                                names->insert(names->begin(), std::exchange(job, last));
                              }},
             task.target);
}

// The words of a command that mean jobs become the ids of these.
void find_jobs(const client::Command& command, const client::Context& context) {
  if (command.words.empty() || command.words.front().name != kJobValue) return;
  const auto find_one = [&](std::string* job) {
    if (command.words.size() > 1) take_task(*job, command.words[1]);
    *job = client::meant_job(context, *job);
  };
  const auto find_all = [&](std::vector<std::string>* jobs) {
    for (std::string& job : *jobs) job = client::meant_job(context, job);
  };
  const auto find_none = [](std::optional<std::string>*) {};  // no job's name is one
  std::visit(base::Overloaded{find_one, find_all, find_none}, command.words.front().target);
}

// The words before a "--", as the library reads them rightly.
base::Result<std::vector<std::string>> clear_line(const client::Command& program,
                                                  const std::vector<std::string>& own) {
  for (auto word = own.begin(); word != own.end(); ++word) {
    const auto named = std::ranges::find(program.commands, *word, &client::Command::name);
    if (named == program.commands.end()) continue;
    auto clear = clear_words(*named, {word + 1, own.end()});
    if (!clear.ok()) return base::invalid_argument(clear.error().message + see_help(&*named));
    clear->insert(clear->begin(), own.begin(), word + 1);
    return clear;
  }
  return own;
}

client::ExitStatus act_on(const std::vector<std::string>& given, client::Context& context) {
  if (const auto ended = run_as_process(given, context)) return *ended;
  const std::vector<std::string> arguments = in_our_words(given);
  const client::Command all = program(context.places);
  CLI::App app("", std::string(kProgram));
  app.set_help_flag("-h,--help");
  app.allow_extras();
  app.require_subcommand(0, 1);  // a later word may be a task type with a command's name
  // Nothing after the first "--" is a flag, whatever it looks like.
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> own(arguments.begin(), end);
  const std::vector<std::string> behind(end == arguments.end() ? end : end + 1, arguments.end());
  for (const client::Command& one : all.commands) {
    CLI::App& command = *app.add_subcommand(one.name);
    // The library takes a millisecond for the flags of all commands: it gets those of each that is
    // named.
    if (std::ranges::find(own, one.name) != own.end()) add_arguments(command, one);
  }
  const auto clear = clear_line(all, own);
  if (!clear.ok()) return bad_usage(context, clear.error().message);
  const auto refuse_extra = [&](const std::string& word, const std::vector<std::string>& words) {
    return bad_usage(context, explain_extra(app, all, word, words, context.places.rules()));
  };
  try {
    app.parse(std::vector<std::string>(clear->rbegin(), clear->rend()));
  } catch (const CLI::CallForHelp&) {
    // A command that does not exist has no help either.
    const client::Command* command = chosen_command(app, all);
    const std::vector<std::string> unknown = app.remaining(true);
    if (command == nullptr && !unknown.empty()) return refuse_extra(unknown.front(), {});
    context.console.out(command == nullptr ? help_text(all, "") : help_text(*command, kProgram));
    return client::ExitStatus::kSuccess;
  } catch (const CLI::ParseError& error) {
    return bad_usage(context, explain(chosen_command(app, all), error));
  }
  const client::Command* command = chosen_command(app, all);
  const std::vector<std::string> extras = app.remaining(true);
  // Without a command, the first word stands for one.
  const auto flag =
      command == nullptr ? extras.end() : std::ranges::find_if(extras, [](const std::string& word) {
        return word.starts_with("-");
      });
  if (!extras.empty()) {
    return refuse_extra(flag == extras.end() ? extras.front() : *flag,
                        end == arguments.end() ? own : std::vector<std::string>());
  }
  if (command == nullptr) return bad_usage(context, "no command" + see_help(nullptr));
  const bool has_rest = command->rest != nullptr;
  const auto taken = take_words(*app.get_subcommands().front(), *command,
                                has_rest ? std::vector<std::string>() : behind);
  if (!taken.ok()) return bad_usage(context, taken.error().message + see_help(command));
  if (has_rest) *command->rest = behind;
  find_jobs(*command, context);
  context.typed_flags = typed_flags(*command, own);
  return command->action(context);
}

}  // namespace

client::Word job_word(std::string& job) {
  job = job::kNewestJob;
  return {std::string(kJobValue), &job};
}

client::Command program(const client::Places& places) {
  client::Command all{
      .name = std::string(kProgram),
      .summary = "Start the tasks of a distributed training job together, as a gang.",
      .footer = base::format(
          "{}\nExample:\n  gangrun run -r ps:2,worker:4 -- python3 train.py\n\n"
          "gangrun COMMAND --help, or gangrun help COMMAND, shows the flags of a command.\n",
          client::exit_status_help()),
      .commands = {run_command(places),     rerun_command(places),  ps_command(places),
                   status_command(),        logs_command(),         result_command(),
                   fetch_command(),         kill_command(),         rm_command(),
                   wait_command(),          attach_command(),       open_command(),
                   exec_command(),          stacks_command(),       kv_command(),
                   barrier_command(),       why_command(),          explain_command(),
                   history_command(places), doctor_command(places), completion_command()}};
  for (client::Command& one : places::programs(places.rules())) all.commands.push_back(one);
  all.commands.push_back(version_command());
  const client::Flag help{"-h,--help", {}, "", "Show this help"};
  all.flags = {help};
  for (client::Command& one : all.commands) one.flags.insert(one.flags.begin(), help);
  return all;
}

// A command that has not said all that it had to say has not succeeded, whatever else it did.
client::ExitStatus run_command_line(const std::vector<std::string>& arguments,
                                    client::Context& context) {
  const client::ExitStatus status = act_on(arguments, context);
  const auto written = context.console.finish();
  if (written.ok()) return status;
  context.console.error(written.error().message);
  return status == client::ExitStatus::kSuccess ? client::ExitStatus::kFailed : status;
}

}  // namespace gangrun::cli
