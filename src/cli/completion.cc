#include "cli/completion.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "base/format.h"
#include "base/letters.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/help.h"
#include "job/choice.h"
#include "job/status.h"

namespace gangrun::cli {

namespace {

using base::format;

std::string function_of(std::string_view name) {
  std::string function = format("_{}", name);
  std::replace(function.begin(), function.end(), '-', '_');
  return function;
}

std::vector<std::string> programs_of(const client::Command& program) {
  std::vector<std::string> names;
  for (const client::Command& command : program.commands) {
    if (command.is_program) names.push_back(command.name);
  }
  return names;
}

// How a value is completed.
enum class Kind { kNothing, kFile, kFolder, kJob, kTask, kChoice };

// The choices of a value. "TYPE" stands for others.
std::vector<std::string> offered(std::string_view value) {
  if (value.find(':') != std::string_view::npos) return {};
  std::vector<std::string> choices = choices_of(value);
  std::erase_if(choices, [](const std::string& one) { return base::in_small_letters(one) != one; });
  return choices;
}

Kind kind_of(std::string_view value) {
  if (!offered(value).empty()) return Kind::kChoice;
  if (value == kFileValue || value == "JOB.yaml" || value == "TRAINING_SCRIPT_PATH")
    return Kind::kFile;
  if (value == kFolderValue) return Kind::kFolder;
  if (value == kJobValue) return Kind::kJob;
  if (value == kTaskValue) return Kind::kTask;
  return Kind::kNothing;
}

constexpr std::string_view kAllJobs = "jobs";

// The jobs that a command makes sense of, by the end of the function that lists them in all shells.
std::string_view jobs_of(const client::Command& command) {
  constexpr std::array<std::string_view, 5> kForRunningJobs{"attach", "exec", "kill", "open",
                                                            "stacks"};
  if (std::ranges::find(kForRunningJobs, command.name) != kForRunningJobs.end()) {
    return "running_jobs";
  }
  return command.name == "rm" ? "ended_jobs" : kAllJobs;
}

// The states of jobs that have ended: "succeeded|failed|…".
std::string ended_states() {
  std::vector<std::string> names;
  for (const auto& [state, name] : job::kChoice<job::JobState>.names) {
    if (job::is_final(state)) names.emplace_back(name);
  }
  return format("{}", base::join(names, "|"));
}

std::string bare(std::string value) {
  constexpr std::string_view kMore = "...";
  std::erase_if(value, [](char c) { return c == '[' || c == ']'; });
  if (value.ends_with(kMore)) value.resize(value.size() - kMore.size());
  return value;
}

bool takes_job_and_task(const client::Command& command) {
  return command.words.size() == 2 && command.words[0].name == kJobValue &&
         command.words[1].name == kTaskValue;
}

// Whether its first word is a choice, and others follow it.
bool begins_with_choice(const client::Command& command) {
  return command.words.size() > 1 && kind_of(command.words.front().name) == Kind::kChoice;
}

// The names of a command's flags, or of those that the next word belongs to.
std::string flag_names(const client::Command& command, bool have_value) {
  std::vector<std::string> all;
  for (const client::Flag& flag : command.flags) {
    if (have_value && flag.value.empty()) continue;
    std::ranges::copy(names_of(flag), std::back_inserter(all));
  }
  return format("{}", base::join(all, " "));
}

// Those after whose "--" stands a command of the user.
std::string commands_before_another(const client::Command& program) {
  std::vector<std::string> names;
  for (const client::Command& command : program.commands) {
    const bool is_command = command.rest_name == client::Command().rest_name;
    if (command.rest != nullptr && is_command) names.push_back(command.name);
  }
  return format("{}", base::join(names, " "));
}

// Which commands and reasons there are, stands where a user chooses one of them.
client::Command with_choices(client::Command program) {
  std::vector<std::string> names;
  for (client::Command& command : program.commands) {
    names.push_back(command.name);
    for (client::Word& word : command.words) {
      if (word.name != kReasonValue) continue;
      std::vector<std::string> reasons;
      for (const Explanation& section : explanations_in(kTroubleshooting)) {
        reasons.insert(reasons.end(), section.reasons.begin(), section.reasons.end());
      }
      word.name = format("{}", base::join(reasons, "|"));
    }
  }
  program.commands.push_back({.name = "help",
                              .summary = "Show the help of a command.",
                              .words = {{format("{}", base::join(names, "|")), {}}}});
  return program;
}

// Offers these words, in a script of bash.
std::string bash_choice(std::string_view words) {
  return format(R"sh(COMPREPLY=($(compgen -W "{}" -- "$current")))sh", words);
}

std::string bash_reply(std::string_view value, std::string_view jobs) {
  switch (kind_of(value)) {
    case Kind::kFile: return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))";
    case Kind::kFolder: return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$current\"))";
    case Kind::kJob: return bash_choice(format("last $(_gangrun_{})", jobs));
    case Kind::kChoice: return bash_choice(format("{}", base::join(offered(value), " ")));
    case Kind::kTask:
    case Kind::kNothing: return "COMPREPLY=()";
  }
  return "COMPREPLY=()";
}

std::string bash_command(const client::Command& command) {
  std::string text = format("    {})\n      case \"$previous\" in\n", command.name);
  for (const client::Flag& flag : command.flags) {
    if (flag.value.empty()) continue;
    text += format("        {}) {}; return ;;\n", base::join(names_of(flag), "|"),
                   bash_reply(flag.value, kAllJobs));
  }
  text += "      esac\n      if [[ $current == -* ]]; then\n";
  text += format("        {}\n        return\n      fi\n", bash_choice(flag_names(command, false)));
  if (takes_job_and_task(command)) {
    text += format("      _gangrun_job_and_task \"{}\" \"_gangrun_{}\"\n",
                   flag_names(command, true), jobs_of(command));
  } else if (begins_with_choice(command)) {
    text += format("      if [[ $previous == {} ]]; then\n        {}\n      fi\n", command.name,
                   bash_reply(command.words.front().name, kAllJobs));
  } else if (!command.words.empty()) {
    text += format("      {}\n", bash_reply(command.words.front().name, jobs_of(command)));
  }
  return text + "      ;;\n";
}

constexpr std::string_view kListJobs =
    "  command ls -1 \"${GANGRUN_HOME:-$HOME/.gangrun}/jobs\" 2>/dev/null\n";

// The tasks of a job, in all shells, which give it as the first argument: the first words of some
// lines of `gangrun status`, of which the cause of a failure may be one. Nobody at a prompt waits
// for a cluster that does not answer.
std::string list_tasks(std::string_view job) {
  return format(
      "  command timeout 2 gangrun status {} 2>/dev/null |\n"
      "    sed -n 's/^\\([a-z][a-z0-9_-]*:[0-9][0-9]*\\) .*/\\1/p' | sort -u\n",
      job);
}

// For bash and zsh: the first words of the lines of `gangrun ps` whose second word is, or is not,
// one of `states`.
std::string list_jobs_script(std::string_view function, bool have_ended) {
  return format(
      "{}() {{\n  command gangrun ps 2>/dev/null | while read -r job state rest; do\n"
      "    case $state in\n      STATE{}) ;;\n      {}) printf '%s\\n' \"$job\" ;;\n"
      "    esac\n  done\n}}\n",
      function, have_ended ? "" : "|unreadable|" + ended_states(),
      have_ended ? ended_states() : std::string("*"));
}

// Functions of bash and zsh that print jobs and tasks.
std::string lists_script() {
  return format("_gangrun_jobs() {{\n{}}}\n", kListJobs) +
         list_jobs_script("_gangrun_running_jobs", false) +
         list_jobs_script("_gangrun_ended_jobs", true) +
         format("_gangrun_tasks() {{\n{}}}\n", list_tasks("\"$1\""));
}

// With the flags that have a value, and what lists the jobs. Where no job has been named, it is one
// of them or a task of the last one. bash takes a colon for the end of a word: "worker:1" comes as
// three.
constexpr std::string_view kBashJobAndTask = R"sh(_gangrun_job_and_task() {
  local at=$COMP_CWORD whole=$current word before= is_value= job= words
  while [[ ${COMP_WORDS[at]} == : || ${COMP_WORDS[at-1]} == : ]]; do
    ((--at))
    whole=${COMP_WORDS[at]}$whole
  done
  for word in "${COMP_WORDS[@]:2:at-2}"; do
    if [[ $word == [=:] ]]; then
      is_value=1
      if [[ $word == : && $before == "$job" ]]; then job=last; fi
    elif [[ -n $is_value ]]; then is_value=
    elif [[ $word == -* ]]; then [[ " $1 " != *" $word "* ]] || is_value=1
    elif [[ -z $job ]]; then job=$word
    fi
    before=$word
  done
  if [[ -n $job ]]; then words=$(_gangrun_tasks "$job")
  else words="last $($2) $(_gangrun_tasks last)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$whole"))
  if [[ $whole == *:* ]]; then COMPREPLY=("${COMPREPLY[@]#"${whole%"${whole##*:}"}"}"); fi
}
)sh";

std::string bash_script(const client::Command& program) {
  std::vector<std::string> commands;
  for (const client::Command& command : program.commands) commands.push_back(command.name);
  std::string text =
      format("# bash completion of {}; load it with:  source <({} completion bash)\n", program.name,
             program.name);
  text += lists_script();
  text += kBashJobAndTask;
  text += R"(_gangrun() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word
  COMPREPLY=()
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then
)";
  text += format("      if [[ \" {} \" == *\" $command \"* ]]; then\n",
                 commands_before_another(program));
  text += R"(        compopt -o default
        if [[ $previous == -- ]]; then COMPREPLY=($(compgen -c -- "$current")); fi
        return
      fi
      if [[ $current == -* ]]; then return; fi
    fi
    if [[ -z $command && $word != -* ]]; then command=$word; fi
  done
  case "$command" in
    "")
)";
  const std::string words = format("{} {}", base::join(commands, " "), flag_names(program, false));
  text += format("      {}\n      ;;\n", bash_choice(words));
  for (const client::Command& command : program.commands) text += bash_command(command);
  text += "  esac\n}\ncomplete -F _gangrun gangrun\n";
  for (const std::string& name : programs_of(program)) {
    text += format("{}() {{\n  COMP_WORDS=(gangrun {} \"${{COMP_WORDS[@]:1}}\")\n",
                   function_of(name), name);
    text +=
        format("  ((++COMP_CWORD))\n  _gangrun\n}}\ncomplete -F {} {}\n", function_of(name), name);
  }
  return text;
}

// Inside single quotes and the brackets of a specification.
std::string zsh_text(std::string_view help) {
  std::string text;
  for (const char c : help) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

// The lines of these words are offered.
std::string zsh_offer(std::string_view words) { return format("{{_gangrun_offer {}}}", words); }

std::string zsh_action(std::string_view value, std::string_view jobs) {
  switch (kind_of(value)) {
    case Kind::kFile: return "_files";
    case Kind::kFolder: return "_files -/";
    case Kind::kJob: return zsh_offer(format("last \"$(_gangrun_{})\"", jobs));
    case Kind::kTask: return zsh_offer("\"$(_gangrun_tasks \"$line[1]\")\"");
    case Kind::kChoice: return format("({})", base::join(offered(value), " "));
    case Kind::kNothing: return " ";
  }
  return " ";
}

std::string zsh_command(const client::Command& command) {
  std::string text = format("    {})\n      _arguments -s -S \\\n", command.name);
  for (const client::Flag& flag : command.flags) {
    for (const std::string& name : names_of(flag)) {
      const bool takes_sign = !flag.value.empty() && name.starts_with("--");
      text += format("        '*{}{}[{}]", name, takes_sign ? "=" : "", zsh_text(flag.help));
      if (!flag.value.empty()) {
        text += format(":{}:{}", zsh_text(bare(flag.value)), zsh_action(flag.value, kAllJobs));
      }
      text += "' \\\n";
    }
  }
  int place = 1;
  std::string last = "'*::argument:_normal'";
  for (const client::Word& word : command.words) {
    std::string action = zsh_action(word.name, jobs_of(command));
    // JOB may be left out.
    if (place == 1 && takes_job_and_task(command)) {
      action =
          zsh_offer(format("last \"$(_gangrun_{})\" \"$(_gangrun_tasks last)\"", jobs_of(command)));
    }
    const bool is_choice = kind_of(word.name) == Kind::kChoice;
    action = format("{}:{}", is_choice ? "choice" : zsh_text(word.name), action);
    if (is_list(word)) {
      last = format("'*:{}'", action);
    } else {
      text += format("        '{}:{}' \\\n", place++, action);
    }
  }
  return text + format("        {}\n      ;;\n", last);
}

std::string zsh_script(const client::Command& program) {
  std::string text =
      format("#compdef {0}\n# zsh completion; load it with:  source <({0} completion zsh)\n",
             program.name);
  text += lists_script();
  text +=
      "_gangrun_offer() {\n  local -a found\n  found=(${(f)\"${(F)@}\"})\n  compadd -a found\n}\n";
  text += "_gangrun() {\n  local -a commands\n  commands=(\n";
  for (const client::Command& command : program.commands) {
    text += format("    '{}:{}'\n", command.name, zsh_text(command.summary));
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const client::Command& command : program.commands) text += zsh_command(command);
  text += "  esac\n}\ncompdef _gangrun gangrun\n";
  for (const std::string& name : programs_of(program)) {
    text += format("{}() {{\n  words=(gangrun {} \"${{words[@]:1}}\")\n", function_of(name), name);
    text += format("  (( ++CURRENT ))\n  _gangrun\n}}\ncompdef {} {}\n", function_of(name), name);
  }
  return text;
}

std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_value(std::string_view value, std::string_view jobs) {
  switch (kind_of(value)) {
    case Kind::kFile: return " -r -F";
    case Kind::kFolder: return " -x -a '(__fish_complete_directories)'";
    case Kind::kJob: return format(" -x -a '(__gangrun_{})'", jobs);
    case Kind::kTask:
    case Kind::kNothing: return " -x";
    case Kind::kChoice: return format(" -x -a '{}'", base::join(offered(value), " "));
  }
  return " -x";
}

std::string fish_list_jobs(std::string_view which, bool have_ended) {
  std::string ended = ended_states();
  std::replace(ended.begin(), ended.end(), '|', ' ');
  return format(
      "function __gangrun_{}_jobs\n  echo last\n"
      "  command gangrun ps 2>/dev/null | while read -l job state rest\n"
      "    {}contains -- $state STATE unreadable{}; and echo $job\n  end\nend\n",
      which, have_ended ? "contains -- $state " + ended + "; and not " : std::string("not "),
      have_ended ? "" : " " + ended);
}

// Both get the flags that have a value. The job that has been named, and the tasks of that one or
// of the last.
constexpr std::string_view kFishJob = R"sh(function __gangrun_job
  set -l is_value
  for word in (commandline -opc)[3..-1]
    if test -n "$is_value"
      set is_value
    else if string match -q -- '-*' $word
      contains -- $word $argv; and set is_value 1
    else
      echo $word
      return
    end
  end
  return 1
end
function __gangrun_tasks
  set -l job (__gangrun_job $argv); or set job last
)sh";

std::string fish_words(const client::Command& command) {
  if (command.words.empty()) return {};
  const std::string start = "complete -c gangrun -n '__fish_seen_subcommand_from " + command.name;
  const std::string& first = command.words.front().name;
  const std::string value = fish_value(first, jobs_of(command));
  if (begins_with_choice(command)) {
    return format("{0}' -f\n{0}; and not __fish_seen_subcommand_from {1}'{2}\n", start,
                  base::join(offered(first), " "), value);
  }
  if (!takes_job_and_task(command)) {
    return start + "'" + (kind_of(first) == Kind::kFile ? " -F" : " -f" + value) + "\n";
  }
  const std::string flags = flag_names(command, true);
  return start + "; and not __gangrun_job " + flags + " >/dev/null' -f" + value + "\n" + start +
         "' -f -x -a '(__gangrun_tasks " + flags + ")'\n";
}

std::string fish_script(const client::Command& program) {
  std::string text = format(
      "# fish completion; load it with:  {} completion fish | source\n"
      "function __gangrun_jobs\n  set -l home $GANGRUN_HOME\n"
      "  test -n \"$home\"; or set home $HOME/.gangrun\n"
      "  echo last\n  command ls -1 $home/jobs 2>/dev/null\nend\n",
      program.name);
  text += fish_list_jobs("running", false);
  text += fish_list_jobs("ended", true);
  text += format("{}{}end\n", kFishJob, list_tasks("$job"));
  for (const client::Command& command : program.commands) {
    text += format("complete -c gangrun -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                   fish_quoted(command.summary));
  }
  for (const client::Command& command : program.commands) {
    const std::string when =
        format("complete -c gangrun -n '__fish_seen_subcommand_from {}'", command.name);
    text += fish_words(command);
    for (const client::Flag& flag : command.flags) {
      text += when;
      for (const std::string& name : names_of(flag)) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.value.empty()) text += fish_value(flag.value, kAllJobs);
      text += format(" -d {}\n", fish_quoted(flag.help));
    }
  }
  for (const std::string& name : programs_of(program)) {
    text += format("complete -c {0} -w 'gangrun {0}'\n", name);
  }
  return text;
}

base::Result<client::ExitStatus> print_script(const std::string& shell, client::Context& context) {
  GANGRUN_ASSIGN(const auto script, completion_script(shell, program(context.places)));
  context.console.out(script);
  return client::ExitStatus::kSuccess;
}

}  // namespace

std::vector<std::string> completion_shells() { return {"bash", "zsh", "fish"}; }

base::Result<std::string> completion_script(std::string_view shell,
                                            const client::Command& program) {
  if (shell == "bash") return bash_script(with_choices(program));
  if (shell == "zsh") return zsh_script(with_choices(program));
  if (shell == "fish") return fish_script(with_choices(program));
  return job::not_one_of(shell, "a shell that can be completed in", completion_shells());
}

client::Command completion_command() {
  const auto shell = std::make_shared<std::string>();
  return {.name = "completion",
          .summary = "Print a script for command-line completion in a shell.",
          .words = {{"bash|zsh|fish", shell.get(), true}},
          .footer = "Example (in ~/.bashrc):\n  source <(gangrun completion bash)\n",
          .action = acts(shell, print_script)};
}

}  // namespace gangrun::cli
