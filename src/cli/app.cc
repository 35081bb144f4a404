#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "cli/command_builder.h"
#include "cli/command_model.h"
#include "cli/commands.h"
#include "cli/forgotten_dashes.h"
#include "client/command.h"
#include "client/misplaced_roles.h"
#include "client/place.h"
#include "host/processes.h"
#include "job/choice.h"
#include "job/spec_names.h"
#include "job/units.h"
#include "places/places.h"

namespace gangrun::cli {

namespace {

constexpr std::string_view kProgram = "gangrun";
// The command whose words after "--" are that of tasks, and the one whose are another's beside one.
constexpr std::string_view kCommandWithWords = "run";
constexpr std::string_view kCommandBeside = "exec";

bool takes_words(std::string_view command) {
  constexpr std::array kTakeWords = {kCommandWithWords, kCommandBeside, std::string_view("rerun"),
                                     std::string_view("kv")};
  return std::ranges::find(kTakeWords, command) != kTakeWords.end();
}

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
  } else if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

// A command of another tool.
void add_program(CLI::App& app, Request& request, const client::Command& program) {
  CLI::App* command = add_command(app, program.name, program.summary);
  if (program.word != nullptr) {
    add_positional(*command, program.word_name, *program.word, program.needs_word);
  }
  add_flags(*command, program.flags);
  add_footer(*command, program.footer);
  on_chosen(*command, [&request, action = program.action] { request.action = action; });
}

void build(CLI::App& app, Request& request) {
  app.description("Start the tasks of a distributed training job together, as a gang.");
  app.set_help_flag("-h,--help", "Show this help");
  app.allow_extras();
  app.require_subcommand(0, 1);  // a later word may be a task type with a command's name
  app.footer(
      base::format("{}\nExample:\n  gangrun run -r ps:2,worker:4 -- python3 train.py\n\n"
                   "gangrun COMMAND --help shows the flags of a command.\n",
                   client::exit_status_help()));
  add_run(app, request);
  add_rerun(app, request);
  add_ps(app, request);
  add_status(app, request);
  add_logs(app, request);
  add_result(app, request);
  add_fetch(app, request);
  add_kill(app, request);
  add_rm(app, request);
  add_wait(app, request);
  add_attach(app, request);
  add_open(app, request);
  add_exec(app, request);
  add_stacks(app, request);
  add_kv(app, request);
  add_barrier(app, request);
  add_why(app, request);
  add_explain(app, request);
  add_history(app, request);
  add_doctor(app, request);
  add_completion(app, request);
  for (const client::Command& program : places::programs(request.places.rules())) {
    add_program(app, request, program);
  }
  add_version(app, request);
}

const CLI::App* chosen_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? nullptr : commands.front();
}

std::string see_help(const CLI::App* command) {
  return command == nullptr ? std::string("; see gangrun --help")
                            : base::format("; see gangrun {} --help", command->get_name());
}

// The words of the command line that have no flag and are no part of the tasks' command.
std::vector<std::string> bare_words(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::vector<std::string> given = option->results();
    words.insert(words.end(), given.begin(), given.end());
  }
  const std::vector<std::string> extras = app.remaining(true);
  words.insert(words.end(), extras.begin(), extras.end());
  return words;
}

// Flags are called as keys are, also in other programs.
std::optional<std::string> meant_word(const std::string& word,
                                      const std::vector<std::string>& known) {
  constexpr std::string_view kDashes = "--";
  if (!word.starts_with(kDashes)) return base::nearest(word, known);
  std::vector<std::string> names;
  for (const std::string& flag : known) names.push_back(flag.substr(kDashes.size()));
  const auto same = job::same_name(word.substr(kDashes.size()), names);
  return same ? std::string(kDashes) + *same : base::nearest(word, known);
}

// The command or flag that an unknown word may have meant. `given` is all that stands before a
// "--", or nothing.
std::string explain_extra(const CLI::App& app, const std::string& word,
                          const std::vector<std::string>& given,
                          const jobfile::RulesOfPlaces& places) {
  const CLI::App* command = chosen_command(app);
  const CommandModel model = model_of(command == nullptr ? app : *command);
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  std::string what = "unexpected argument";
  if (word.size() > 1 && word.front() == '-') {
    what = "unknown flag";
    for (const FlagModel& flag : model.flags) {
      std::copy_if(flag.names.begin(), flag.names.end(), std::back_inserter(known),
                   [](const std::string& n) { return n.starts_with("--"); });
    }
  } else if (command == nullptr) {
    what = "unknown command";
    for (const CommandModel& child : model.commands) known.push_back(child.name);
  }
  std::string sentence = base::format("{} {}", what, job::in_quotes(name));
  if (command != nullptr && command->get_name() == kCommandBeside && !given.empty()) {
    return sentence + "; put -- before the command";
  }
  if (command != nullptr && command->get_name() == kCommandWithWords) {
    const auto roles =
        word.starts_with('-') ? std::nullopt : client::meant_as_roles(bare_words(app, *command));
    if (roles) return base::format("{}; to start these tasks, use {}", sentence, *roles);
    if (const auto line = line_with_dashes(model, given, word)) {
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
    for (const auto& [other, ours] : kOtherNames) {
      if (name == other) return sentence + base::format("; did you mean {}?", ours);
    }
  }
  if (const auto meant = meant_word(name, known)) {
    return sentence + base::format("; did you mean {}?", *meant);
  }
  return sentence + see_help(command);
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const CLI::App* command = chosen_command(app);
  if (error.get_name() == "ArgumentMismatch") {
    text = base::format("{} needs a value", text.substr(0, text.find(':')));
  } else if (error.get_name() == "RequiredError") {
    text = base::format("{} is missing", text.substr(0, text.find(' ')));
  }
  return text + see_help(command);
}

client::ExitStatus bad_usage(client::Context& context, const std::string& sentence) {
  context.console.error(sentence);
  return client::ExitStatus::kBadInput;
}

client::ExitStatus show_help(const CLI::App& app, client::Context& context) {
  const CLI::App* command = chosen_command(app);
  CommandModel model = model_of(command == nullptr ? app : *command);
  if (takes_words(model.name)) model.positionals.emplace_back("[-- COMMAND...]");
  context.console.out(help_text(model, command == nullptr ? "" : kProgram));
  return client::ExitStatus::kSuccess;
}

// The processes of a detached job, which start each other (host/processes.h), and what masters have
// done on the side.
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
  if (arguments.size() == 2) return places::run_errand(arguments[0], arguments[1], context);
  return std::nullopt;
}

client::ExitStatus run_command(const std::vector<std::string>& given, client::Context& context) {
  if (const auto ended = run_as_process(given, context)) return *ended;
  const std::vector<std::string> arguments = in_our_words(given);
  Request request{.places = context.places};
  CLI::App app("", std::string(kProgram));
  build(app, request);
  // Everything after the first "--" is the user's command, whatever it looks like.
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (end != arguments.end()) request.command.assign(end + 1, arguments.end());
  const std::vector<std::string> own(arguments.begin(), end);
  try {
    app.parse(std::vector<std::string>(own.rbegin(), own.rend()));
  } catch (const CLI::CallForHelp&) {
    // A command that does not exist has no help either.
    const std::vector<std::string> unknown = app.remaining(true);
    if (chosen_command(app) == nullptr && !unknown.empty()) {
      return bad_usage(context, explain_extra(app, unknown.front(), {}, context.places.rules()));
    }
    return show_help(app, context);
  } catch (const CLI::ParseError& error) {
    return bad_usage(context, explain(app, error));
  }
  std::vector<std::string> extras = app.remaining(true);
  const auto flag = std::find_if(extras.begin(), extras.end(),
                                 [](const std::string& word) { return word.starts_with("-"); });
  if (!extras.empty()) {
    return bad_usage(context,
                     explain_extra(app, flag == extras.end() ? extras.front() : *flag,
                                   end == arguments.end() ? own : std::vector<std::string>(),
                                   context.places.rules()));
  }
  if (!request.action) return bad_usage(context, "no command" + see_help(nullptr));
  const CLI::App* command = chosen_command(app);
  if (end != arguments.end() && !takes_words(command->get_name())) {
    return bad_usage(context, base::format("{} takes no command after --", command->get_name()));
  }
  if (const auto& find_jobs = request.find_jobs[command]) find_jobs(context);
  return request.action(context);
}

}  // namespace

void add_job(CLI::App& command, Request& request, std::string& job, bool required) {
  if (!required) job = job::kNewestJob;
  add_positional(command, std::string(kJobValue), job, required);
  request.find_jobs[&command] = [&job](const client::Context& context) {
    job = client::meant_job(context, job);
  };
}

void add_job_and_task(CLI::App& command, Request& request, std::string& job, std::string& task) {
  add_job(command, request, job, false);
  add_positional(command, std::string(kTaskValue), task, false);
  request.find_jobs[&command] = [&job, &task](const client::Context& context) {
    // No job's name has a colon.
    if (task.empty() && job.find(':') != std::string::npos) {
      task = std::exchange(job, std::string(job::kNewestJob));
    }
    job = client::meant_job(context, job);
  };
}

void add_job_and_tasks(CLI::App& command, Request& request, std::string& job,
                       std::vector<std::string>& tasks) {
  add_job(command, request, job, false);
  add_positionals(command, base::format("{}...", kTaskValue), tasks, false);
  request.find_jobs[&command] = [&job, &tasks](const client::Context& context) {
    // No job's name has a colon.
    if (job.find(':') != std::string::npos) {
      tasks.insert(tasks.begin(), std::exchange(job, std::string(job::kNewestJob)));
    }
    job = client::meant_job(context, job);
  };
}

void add_jobs(CLI::App& command, Request& request, std::vector<std::string>& jobs) {
  add_positionals(command, base::format("{}...", kJobValue), jobs, true);
  request.find_jobs[&command] = [&jobs](const client::Context& context) {
    for (std::string& job : jobs) job = client::meant_job(context, job);
  };
}

// A command that has not said all that it had to say has not succeeded, whatever else it did.
client::ExitStatus run_command_line(const std::vector<std::string>& arguments,
                                    client::Context& context) {
  const client::ExitStatus status = run_command(arguments, context);
  const auto written = context.console.finish();
  if (written.ok()) return status;
  context.console.error(written.error().message);
  return status == client::ExitStatus::kSuccess ? client::ExitStatus::kFailed : status;
}

}  // namespace gangrun::cli
