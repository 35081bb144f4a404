#include "ssh/ssh_command.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::ssh {

namespace {

// The end of a login's output is kept.
constexpr std::size_t kMaxNoise = 500;
// A login that says more on one line is not waited for.
constexpr std::size_t kMaxLine = std::size_t{64} << 10U;

// `enter` goes into the folder $1 and looks at where we are then: what its name means to others,
// and whom it will lead to next, does not matter any more. All that follows is relative. Who made
// it is asked of "." (`-O` follows links), and that its name was no link, of the path that the
// kernel has for it. Nobody else can change a folder of ours with mode 0700. Otherwise `why` says
// what is wrong.
// A folder above in which others can rename is none for it: what is called by its path from there
// on (logs, sockets, files of tasks) would be theirs. Below one that others cannot enter they
// cannot.
constexpr std::string_view kFolderLines = R"sh(
exposed() (
  found=
  depth=0
  while [ "$(pwd -P)" != / ]; do
    depth=$((depth + 1))
    if [ "$depth" -gt 500 ] || ! cd -P ..; then found=/; break; fi
    case $(ls -ld .) in
      d????????[-T]*) found= ;;
      d???????w[!tT]*) found=$(pwd -P) ;;
    esac
  done
  printf %s "$found"
)
enter() {
  name=${1##*/}
  cd -P "${1%/*}/" 2>/dev/null || { why="$why; $1 cannot be made"; return 1; }
  beside=$(pwd -P)
  if ! cd -P "./$name" 2>/dev/null; then
    if [ -d "./$name" ]; then why="$why; $1 cannot be entered"; return 1; fi
    why="$why; $1 cannot be made"; return 1
  fi
  here=$(pwd -P)
  if ! [ -O . ]; then why="$why; $1 is another user's"; return 1; fi
  if [ "$here" != "${beside%/}/$name" ]; then why="$why; $1 is a symbolic link"; return 1; fi
  if [ -z "$name" ] || [ -k . ]; then why="$why; $1 is a folder of all users"; return 1; fi
  open=$(exposed)
  if [ -n "$open" ]; then
    why="$why; $1 could be replaced by others, as all may write to $open"; return 1
  fi
  chmod 700 . || { why="$why; $1 does not take mode 700"; return 1; }
}
is_whole() {
  [ "$(($(wc -c <"$1")))" -eq "$size" ]
}
has_agent() {
  enter "$1" && [ -O agents ] && ! [ -L agents ] && [ -O "agents/$hash" ] &&
    ! [ -L "agents/$hash" ] && [ -x "agents/$hash" ] && is_whole "agents/$hash"
}
usable() {
  mkdir -p "${1%/*}/" 2>/dev/null
  mkdir "$1" 2>/dev/null
  enter "$1" || return 1
  for part in agents jobs; do
    mkdir "$part" 2>/dev/null
    if [ -L "$part" ] || ! [ -O "$part" ]; then
      why="$why; $part in $1 is no folder of yours"; return 1
    fi
  done
  chmod 700 agents jobs || return 1
  rm -f "agents/try.$$"
  if ! printf '#!/bin/sh\n' >"agents/try.$$" 2>/dev/null; then
    why="$why; $1 cannot be written"; rm -f "agents/try.$$"; return 1
  fi
  chmod 700 "agents/try.$$"
  if ! [ -x "agents/try.$$" ]; then
    why="$why; $1 is mounted noexec"; rm -f "agents/try.$$"; return 1
  fi
  rm -f "agents/try.$$"
  free=$(df -Pk . 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ -n "$free" ] && [ "$free" -lt "$need" ]; then
    why="$why; $1 has $free KiB free, and $need are needed"; return 1
  fi
  return 0
}
)sh";

// The agent is found in the first folder that has it, or taken from standard input into the first
// that can be used. Where a login is cut, `head` ends well with a part of it. A shell that reads
// byte by byte (bash, ksh) leaves to the keeper what stands below the line that starts it: nothing.
constexpr std::size_t kEmptyLines = 1024;
constexpr std::string_view kMainLines = R"sh(
main() {
  mask=$(umask)
  umask 077
  path=${PATH-}
  had_path=${PATH+yes}
  PATH=${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
  machine=$(uname -s -m)
  if [ "$machine" != "$wanted" ]; then say machine "$machine"; return 1; fi
  if [ -z "$given" ]; then
    uid=$(id -u)
    case ${XDG_CACHE_HOME-} in
      /*) set -- "$XDG_CACHE_HOME/gangrun" ;;
      *) set -- "$HOME/.cache/gangrun" ;;
    esac
    set -- "$1" "/var/tmp/gangrun-$uid" "/tmp/gangrun-$uid"
  else
    set -- "$given"
  fi
  for folder in "$@"; do
    if has_agent "$folder"; then become_keeper; fi
  done
  limit=$(ulimit -f)
  if [ "$limit" != unlimited ] && [ "$((limit / 2))" -lt "$((size / 1024 + 1))" ]; then
    say lost "files may have $((limit / 2)) KiB there (ulimit -f), and it has $((size / 1024 + 1))"
    return 1
  fi
  why=
  for folder in "$@"; do
    if usable "$folder"; then
      taken="agents/$hash.$$"
      say send
      if head -c "$size" >"$taken" && is_whole "$taken" && chmod 700 "$taken" &&
        mv -f "$taken" "agents/$hash"
      then become_keeper
      fi
      rm -f "$taken"
      say lost "$folder cannot be written"
      return 1
    fi
  done
  say folders "${why#; }"
  return 1
}
main; exit
)sh";

// Options that OpenSSH has learnt since version 7: `RemoteCommand` with 7.6, the others with 8.7.
// Without them ssh does what they ask for, unless the user's configuration says otherwise, which an
// ssh that does not know them refuses.
constexpr std::string_view kMayBeMissing[] = {"remotecommand", "stdinnull",
                                              "forkafterauthentication", "sessiontype"};

// Its name is then what follows the last slash.
std::string without_last_slashes(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

void add_option(std::vector<std::string>& argv, const std::string& option, const SshCall& call) {
  const std::string name = base::in_small_letters(option.substr(0, option.find('=')));
  if (!call.unknown.contains(name)) argv.insert(argv.end(), {"-o", option});
}

std::vector<std::string> ssh_with_options(const SshCall& call) {
  std::vector<std::string> argv = {"ssh", "-T", "-x"};
  if (!call.config.empty()) argv.insert(argv.end(), {"-F", call.config});
  const std::vector<std::string> options = {
      // Nobody sits before it.
      "BatchMode=yes",
      base::format("ConnectTimeout={}", kConnectSeconds),
      base::format("ServerAliveInterval={}", kAliveSeconds),
      base::format("ServerAliveCountMax={}", kAliveCount),
      // Those of the user's configuration are for his own sessions.
      "ClearAllForwardings=yes",
      "EscapeChar=none",
      // With less it does not say why it cannot log in.
      "LogLevel=INFO",
      "RemoteCommand=none",
      "PermitLocalCommand=no",
      "StdinNull=no",
      "ForkAfterAuthentication=no",
  };
  for (const std::string& option : options) add_option(argv, option, call);
  return argv;
}

constexpr std::pair<std::string_view, ScriptWord> kScriptWords[] = {
    {"send", ScriptWord::kNeedsAgent},      {"agent", ScriptWord::kHasAgent},
    {"machine", ScriptWord::kOtherMachine}, {"folders", ScriptWord::kNoFolder},
    {"lost", ScriptWord::kAgentNotKept},
};

}  // namespace

bool leave_out(const std::string& name, SshCall& call) {
  return std::ranges::find(kMayBeMissing, name) != std::end(kMayBeMissing) &&
         call.unknown.insert(name).second;
}

std::vector<std::string> ssh_command(const std::string& host, const SshCall& call) {
  std::vector<std::string> argv = ssh_with_options(call);
  add_option(argv, "SessionType=default", call);
  // Any shell that a login may have understands this.
  argv.insert(argv.end(), {"--", host, "exec /bin/sh"});
  return argv;
}

std::vector<std::string> ssh_command_to(const std::string& host, const SshCall& call,
                                        const std::string& address) {
  std::vector<std::string> argv = ssh_with_options(call);
  argv.insert(argv.end(), {"-W", address, "--", host});
  return argv;
}

std::string login_script(const LoginInput& input) {
  const auto quote = [](std::string_view text) { return base::shell_quote(text); };
  // A login that asks for a line, or a few, gets empty ones.
  std::string script(kEmptyLines, '\n');
  script += base::format("say() {{ printf '%s %s\\n' {} \"$*\"; }}\n", quote(input.marker));
  script += base::format("given={}\nhash={}\nsize={}\nneed={}\nwanted={}\n",
                         quote(without_last_slashes(input.folder)), quote(input.agent_hash),
                         input.agent_bytes, input.agent_bytes / 1024 + 64, quote("Linux x86_64"));
  script += base::format(
      "become_keeper() {{\n"
      "  umask \"$mask\"\n"
      "  if [ -n \"$had_path\" ]; then PATH=$path; else unset PATH; fi\n"
      "  say agent\n"
      "  exec \"./agents/$hash\" host --folder \"$here\" --name {} --containment {} "
      "--working-folder {} --mark {} --interface {}\n}}\n",
      quote(input.host), quote(job::to_string(input.containment)), quote(input.working_folder),
      quote(input.folder_mark), quote(input.interface));
  script += kFolderLines;
  script += kMainLines;
  return script;
}

std::optional<ScriptLine> ScriptReader::next() {
  while (true) {
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) {
      if (text_.size() > kMaxLine) {
        skipped_ += text_.size() - kMaxNoise;
        text_.erase(0, text_.size() - kMaxNoise);
      }
      return std::nullopt;
    }
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    // A login may leave a line without its end before ours.
    const std::size_t mark = line.find(marker_ + " ");
    if (mark == std::string::npos) {
      skipped_ += line.size() + 1;
      noise_ += line + "\n";
      if (noise_.size() > kMaxNoise) noise_.erase(0, noise_.size() - kMaxNoise);
      continue;
    }
    const std::string said = line.substr(mark + marker_.size() + 1);
    const std::string word = said.substr(0, said.find(' '));
    for (const auto& [known, meaning] : kScriptWords) {
      if (word == known) {
        return ScriptLine{meaning, said.substr(std::min(word.size() + 1, said.size()))};
      }
    }
    return ScriptLine{};
  }
}

}  // namespace gangrun::ssh
