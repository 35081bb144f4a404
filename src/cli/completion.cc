#include "cli/completion.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "job/choice.h"

namespace gangrun::cli {

namespace {

using base::format;

// Commands that are known by names of their own too.
constexpr std::array<std::string_view, 3> kOwnNames{"ytf-submit", "tf-spawner", "check_hadoop_env"};

std::string function_of(std::string_view name) {
  std::string function = format("_{}", name);
  std::replace(function.begin(), function.end(), '-', '_');
  return function;
}

// What a value completes to, in words that the generators share.
enum class Kind { kNothing, kFile, kFolder, kJob, kChoice };

Kind completion_of(std::string_view value) {
  if (!choices_of(value).empty()) return Kind::kChoice;
  if (value == kFileValue || value == "JOB.yaml" || value == "TRAINING_SCRIPT_PATH")
    return Kind::kFile;
  if (value == kFolderValue) return Kind::kFolder;
  if (value == kJobValue) return Kind::kJob;
  return Kind::kNothing;
}

// Of a positional that may be given several times.
constexpr std::string_view kMore = "...";

std::string bare(std::string positional) {
  std::erase_if(positional, [](char c) { return c == '[' || c == ']'; });
  if (positional.ends_with(kMore)) positional.resize(positional.size() - kMore.size());
  return positional;
}

std::vector<std::string> names_in(const CommandModel& command) {
  std::vector<std::string> names;
  for (const FlagModel& flag : command.flags) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return names;
}

std::string bash_reply(std::string_view value) {
  switch (completion_of(value)) {
    case Kind::kFile: return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))";
    case Kind::kFolder: return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$current\"))";
    case Kind::kJob:
      return R"sh(COMPREPLY=($(compgen -W "last $(_gangrun_jobs)" -- "$current")))sh";
    case Kind::kChoice:
      return format(R"(COMPREPLY=($(compgen -W "{}" -- "$current")))",
                    base::join(choices_of(value), " "));
    case Kind::kNothing: return "COMPREPLY=()";
  }
  return "COMPREPLY=()";
}

std::string bash_command(const CommandModel& command) {
  std::string text = format("    {})\n      case \"$previous\" in\n", command.name);
  for (const FlagModel& flag : command.flags) {
    if (flag.value.empty()) continue;
    text +=
        format("        {}) {}; return ;;\n", base::join(flag.names, "|"), bash_reply(flag.value));
  }
  text += "      esac\n      if [[ $current == -* ]]; then\n";
  text += format("        COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n",
                 base::join(names_in(command), " "));
  text += "        return\n      fi\n";
  if (!command.positionals.empty()) {
    text += format("      {}\n", bash_reply(bare(command.positionals.front())));
  }
  return text + "      ;;\n";
}

constexpr std::string_view kListJobs =
    "  command ls -1 \"${GANGRUN_HOME:-$HOME/.gangrun}/jobs\" 2>/dev/null\n";

std::string bash_script(const CommandModel& program) {
  std::vector<std::string> commands;
  for (const CommandModel& command : program.commands) commands.push_back(command.name);
  std::string text =
      format("# bash completion of {}; load it with:  source <({} completion bash)\n", program.name,
             program.name);
  text += format("_gangrun_jobs() {{\n{}}}\n", kListJobs);
  text += R"(_gangrun() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then compopt -o default; return; fi
    if [[ -z $command && $word != -* ]]; then command=$word; fi
  done
  case "$command" in
    "")
)";
  text += format("      COMPREPLY=($(compgen -W \"{} {}\" -- \"$current\"))\n      ;;\n",
                 base::join(commands, " "), base::join(names_in(program), " "));
  for (const CommandModel& command : program.commands) text += bash_command(command);
  text += "  esac\n}\ncomplete -F _gangrun gangrun\n";
  for (const std::string_view name : kOwnNames) {
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

std::string zsh_action(std::string_view value) {
  switch (completion_of(value)) {
    case Kind::kFile: return "_files";
    case Kind::kFolder: return "_files -/";
    case Kind::kJob: return "_gangrun_jobs";
    case Kind::kChoice: return format("({})", base::join(choices_of(value), " "));
    case Kind::kNothing: return " ";
  }
  return " ";
}

std::string zsh_command(const CommandModel& command) {
  std::string text = format("    {})\n      _arguments -s -S \\\n", command.name);
  for (const FlagModel& flag : command.flags) {
    for (const std::string& name : flag.names) {
      text += format("        '*{}[{}]", name, zsh_text(flag.help));
      if (!flag.value.empty()) {
        text += format(":{}:{}", zsh_text(bare(flag.value)), zsh_action(flag.value));
      }
      text += "' \\\n";
    }
  }
  int place = 1;
  std::string last = "'*::argument:_normal'";
  for (const std::string& positional : command.positionals) {
    const std::string name = bare(positional);
    if (name.starts_with("--")) continue;
    const std::string action = format("{}:{}", zsh_text(name), zsh_action(name));
    if (positional.ends_with(kMore)) {
      last = format("'*:{}'", action);
    } else {
      text += format("        '{}:{}' \\\n", place++, action);
    }
  }
  return text + format("        {}\n      ;;\n", last);
}

std::string zsh_script(const CommandModel& program) {
  std::string text =
      format("#compdef {0}\n# zsh completion; load it with:  source <({0} completion zsh)\n",
             program.name);
  text += format(
      "_gangrun_jobs() {{\n  local -a jobs\n  jobs=(last ${{(f)\"$(\n{}  )\"}})\n"
      "  compadd -a jobs\n}}\n",
      kListJobs);
  text += "_gangrun() {\n  local -a commands\n  commands=(\n";
  for (const CommandModel& command : program.commands) {
    text += format("    '{}:{}'\n", command.name, zsh_text(command.summary));
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CommandModel& command : program.commands) text += zsh_command(command);
  text += "  esac\n}\ncompdef _gangrun gangrun\n";
  for (const std::string_view name : kOwnNames) {
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

std::string fish_value(std::string_view value) {
  switch (completion_of(value)) {
    case Kind::kFile: return " -r -F";
    case Kind::kFolder: return " -x -a '(__fish_complete_directories)'";
    case Kind::kJob: return " -x -a '(__gangrun_jobs)'";
    case Kind::kChoice: return format(" -x -a '{}'", base::join(choices_of(value), " "));
    case Kind::kNothing: return " -x";
  }
  return " -x";
}

std::string fish_script(const CommandModel& program) {
  std::string text = format(
      "# fish completion; load it with:  {} completion fish | source\n"
      "function __gangrun_jobs\n  set -l home $GANGRUN_HOME\n"
      "  test -n \"$home\"; or set home $HOME/.gangrun\n"
      "  echo last\n  command ls -1 $home/jobs 2>/dev/null\nend\n",
      program.name);
  for (const CommandModel& command : program.commands) {
    text += format("complete -c gangrun -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                   fish_quoted(command.summary));
  }
  for (const CommandModel& command : program.commands) {
    const std::string when =
        format("complete -c gangrun -n '__fish_seen_subcommand_from {}'", command.name);
    if (!command.positionals.empty()) {
      const std::string first = bare(command.positionals.front());
      const Kind kind = completion_of(first);
      text += when + (kind == Kind::kFile ? std::string(" -F") : " -f" + fish_value(first)) + "\n";
    }
    for (const FlagModel& flag : command.flags) {
      text += when;
      for (const std::string& name : flag.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.value.empty()) text += fish_value(flag.value);
      text += format(" -d {}\n", fish_quoted(flag.help));
    }
  }
  for (const std::string_view name : kOwnNames) {
    text += format("complete -c {0} -w 'gangrun {0}'\n", name);
  }
  return text;
}

}  // namespace

std::vector<std::string> completion_shells() { return {"bash", "zsh", "fish"}; }

base::Result<std::string> completion_script(std::string_view shell, const CommandModel& program) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  return job::not_one_of(shell, "a shell that can be completed in", completion_shells());
}

}  // namespace gangrun::cli
