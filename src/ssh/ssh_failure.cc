#include "ssh/ssh_failure.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace gangrun::ssh {

namespace {

constexpr std::size_t kMaxLastLine = 300;
constexpr std::string_view kOwnName = "ssh: ";

struct Failure {
  std::string_view said;
  // The meaning: the host's name stands at each "{0}".
  std::string_view sentence;
  bool may_pass = false;
};

constexpr std::string_view kNoSshd =
    "what listens at the port of host {0} is no sshd; try `ssh {0}`";
// Connections to sshd and to other programs end in the same way.
constexpr std::string_view kClosedAtOnce =
    "host {0} closes connections before they begin: its sshd takes no more logins now "
    "(MaxStartups), or something else listens at its port";

// In this order: the first that was said counts.
constexpr Failure kFailures[] = {
    {"REMOTE HOST IDENTIFICATION HAS CHANGED",
     "the key of host {0} is another one than ~/.ssh/known_hosts has; if that is right, run "
     "`ssh-keygen -R {0}`, then `ssh {0}` once"},
    {"Host key verification failed",
     "the key of host {0} is not known; run `ssh {0}` once and accept it, or add it to "
     "~/.ssh/known_hosts"},
    {"no matching host key type found", "host {0} has no kind of key that this ssh accepts"},
    {": bad permissions",
     "ssh takes no private key that others may read; run `chmod 600` on its file"},
    {"Permission denied (",
     "host {0} lets nobody in without a password; run `ssh-copy-id {0}` once, or add your key with "
     "`ssh-add`"},
    {"Too many authentication failures",
     "host {0} was offered too many keys; name one for it in ~/.ssh/config (IdentityFile, "
     "IdentitiesOnly yes)"},
    {"Could not resolve hostname", "there is no host {0}: its name is not known"},
    {"Bad configuration option", "the configuration of ssh is wrong"},
    {"Bad owner or permissions", "ssh does not take its configuration, which others could change"},
    {"Can't open user config file", "the configuration file of ssh cannot be read"},
    {"administratively prohibited",
     "a host on the way to host {0} lets no connection through (AllowTcpForwarding)"},
    {"connect failed: Name or service not known",
     "there is no host {0}: the host on the way to it does not know its name"},
    {"Connection refused", "host {0} runs no sshd at its port", true},
    {"No route to host", "no network leads to host {0}", true},
    {"Network is unreachable", "no network leads to host {0}", true},
    {"timed out during banner exchange", "host {0} does not answer", true},
    {"Connection timed out", "host {0} does not answer", true},
    {"Operation timed out", "host {0} does not answer", true},
    {"not responding", "host {0} has not answered for a while", true},
    {"banner line contains invalid characters", kNoSshd},
    {"banner line too long", kNoSshd},
    {"No SSH version received", kNoSshd},
    {"invalid protocol identifier", kNoSshd},
    {"Protocol major versions differ", kNoSshd},
    {"Bad remote protocol version", kNoSshd},
    {"Bad packet length", kNoSshd},
    {"exchange_identification", kClosedAtOnce, true},
    {"Connection reset", "the connection to host {0} was reset", true},
    {"Broken pipe", "the connection to host {0} broke", true},
    {"Connection closed by", "host {0} closed the connection", true},
    {"closed by remote host", "host {0} closed the connection", true},
};

// How lines begin that ssh itself writes: a banner or a login may have any words.
constexpr std::string_view kOwnBeginnings[] = {
    "ssh: ",
    "@    WARNING: ",
    "Host key verification failed",
    "Unable to negotiate with ",
    "Received disconnect from ",
    "Bad owner or permissions on ",
    "Load key ",
    "Can't open user config file ",
    "Connection to ",
    "Connection timed out during banner exchange",
    "Connection closed by ",
    "Connection reset by ",
    "Timeout, server ",
    "Protocol major versions differ",
    "Bad remote protocol version",
    "Bad packet length",
    "kex_exchange_identification: ",
    "ssh_exchange_identification: ",
    "banner exchange: ",
    "ssh_dispatch_run_fatal: ",
    "packet_write_wait: ",
    "packet_write_poll: ",
    "client_loop: ",
    "Read from remote host ",
    "Write failed: ",
    // The words of a jump host.
    "channel ",
};

// "[USER@HOST: ]Permission denied (METHOD,...)."
bool is_denial(std::string_view line) {
  constexpr std::string_view kSaid = "Permission denied (";
  constexpr std::string_view kEnd = ").";
  const std::size_t at = line.find(kSaid);
  if (at == std::string_view::npos || !line.ends_with(kEnd)) return false;
  const std::string_view who = line.substr(0, at);
  std::string_view methods = line.substr(at + kSaid.size());
  methods.remove_suffix(kEnd.size());
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-,.@";
  return methods.find_first_not_of(kLetters) == std::string_view::npos &&
         (who.empty() || (who.ends_with(": ") && who.find(' ') == who.size() - 1));
}

bool is_own(std::string_view line) {
  const bool is_of_configuration =
      line.find(": line ") != std::string_view::npos &&
      line.find(": Bad configuration option: ") != std::string_view::npos;
  return is_of_configuration || is_denial(line) ||
         std::ranges::any_of(kOwnBeginnings,
                             [line](std::string_view each) { return line.starts_with(each); });
}

// Those that say something, without blanks around it.
std::vector<std::string> lines_of(std::string_view said) {
  std::vector<std::string> lines;
  for (const std::string& line : base::split(said, '\n')) {
    const std::string_view trimmed = base::trim(line);
    if (!trimmed.empty()) lines.emplace_back(trimmed);
  }
  return lines;
}

const Failure* first_failure(const std::vector<std::string>& lines) {
  for (const Failure& failure : kFailures) {
    const auto says_so = [&failure](const std::string& line) {
      return line.find(failure.said) != std::string::npos;
    };
    if (std::ranges::any_of(lines, says_so)) return &failure;
  }
  return nullptr;
}

// As the address of a connection that another program carries.
constexpr std::string_view kCarried = "UNKNOWN port 65535";

// The words about a connection that ended before it began.
bool is_early_end(std::string_view line) {
  return line.find("exchange_identification: ") != std::string_view::npos ||
         line.find(kCarried) != std::string_view::npos;
}

// The words of a jump host's ssh (ProxyJump, `ProxyCommand ssh …`): that of the host itself can
// say so little after an early end.
std::vector<std::string> lines_of_jump(const std::vector<std::string>& own) {
  if (!std::ranges::any_of(own, is_early_end)) return {};
  const bool is_carried = std::ranges::any_of(
      own, [](const std::string& line) { return line.find(kCarried) != std::string::npos; });
  std::vector<std::string> lines;
  for (const std::string& line : own) {
    // A jump host that was reached says why the host was not.
    const bool is_of_host = line.starts_with("channel ");
    const bool is_either = !is_carried && (line.starts_with("Connection closed by ") ||
                                           line.starts_with("Connection reset by "));
    if (!is_early_end(line) && !is_of_host && !is_either) lines.push_back(line);
  }
  return lines;
}

// The host that such a line is about; empty: it names none.
std::string host_in(std::string_view line) {
  constexpr std::string_view kBefore[] = {
      "connect to host ",      "Could not resolve hostname ", "host key is known for ",
      "Host key for ",         "Unable to negotiate with ",   "Received disconnect from ",
      "Connection closed by ", "Connection reset by ",        "Timeout, server "};
  std::string_view name;
  for (const std::string_view before : kBefore) {
    const std::size_t at = line.find(before);
    if (at == std::string_view::npos) continue;
    name = line.substr(at + before.size());
    break;
  }
  if (name.empty() && is_denial(line) && line.find('@') != std::string_view::npos) {
    name = line.substr(line.find('@') + 1);
  }
  name = name.substr(0, name.find(' '));
  while (name.ends_with(':')) name.remove_suffix(1);
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:%[]";
  constexpr std::size_t kMaxHostName = 253;
  const bool is_name =
      name.size() <= kMaxHostName && name.find_first_not_of(kLetters) == std::string_view::npos;
  return is_name ? std::string(name) : std::string();
}

struct Found {
  const Failure* failure = nullptr;
  bool is_of_jump = false;
  std::string jump{};  // host; empty: it is not named
};

Found find_failure(std::string_view said) {
  std::vector<std::string> own = lines_of(said);
  std::erase_if(own, [](const std::string& line) { return !is_own(line); });
  const std::vector<std::string> of_jump = lines_of_jump(own);
  Found found{first_failure(of_jump), true};
  if (found.failure == nullptr) return {first_failure(own)};
  for (const std::string& line : of_jump) {
    if (found.jump.empty()) found.jump = host_in(line);
  }
  // Before "Host key verification failed".
  for (const std::string& line : base::split(said, '\n')) {
    const bool is_of_key = line.find(" host key is known for ") != std::string::npos ||
                           line.starts_with("Host key for ");
    if (found.jump.empty() && is_of_key) found.jump = host_in(base::trim(line));
  }
  return found;
}

std::string with_host(std::string_view sentence, const std::string& host) {
  return fmt::format(fmt::runtime(sentence), host);
}

// If the connection was closed before it began, no host has said anything: another line is of
// what leads there from here.
std::string line_of_way(std::string_view said) {
  const auto lines = lines_of(said);
  const auto other = std::ranges::find_if_not(lines, is_own);
  return other == lines.end() ? std::string() : *other;
}

// The line that says it, or the last one.
std::string line_of(std::string_view said, std::string_view part) {
  std::string last;
  for (const std::string& line : lines_of(said)) {
    last = line;
    if (!part.empty() && is_own(line) && line.find(part) != std::string::npos) break;
  }
  return base::shorten(base::harmless_sentence(last), kMaxLastLine);
}

}  // namespace

std::string failure_sentence(const std::string& host, std::string_view standard_error,
                             std::string_view how) {
  const Found found = find_failure(standard_error);
  if (found.failure == nullptr) return others_sentence(host, standard_error, how);
  std::string way =
      found.failure->sentence == kClosedAtOnce ? line_of_way(standard_error) : std::string();
  if (!way.empty()) {
    return base::format(
        "what leads to host {} (ProxyCommand, ProxyJump) ended before there was a connection; it "
        "said {}",
        host, base::their_words(way));
  }
  std::string line = line_of(standard_error, found.failure->said);
  // Some of its lines begin with its name.
  if (line.starts_with(kOwnName)) line.erase(0, kOwnName.size());
  std::string sentence = with_host(found.failure->sentence, host);
  if (found.is_of_jump && found.jump.empty()) {
    sentence = base::format("what leads to host {} (ProxyJump, ProxyCommand) failed", host);
  } else if (found.is_of_jump) {
    sentence = base::format("the way to host {} leads over another one: {}", host,
                            with_host(found.failure->sentence, found.jump));
  }
  return base::format("{} ({}{})", sentence, kOwnName, line);
}

std::string login_words(std::string_view output, std::string_view standard_error) {
  std::string words(base::trim(output));
  std::string last;
  for (const std::string& line : lines_of(standard_error)) {
    if (!is_own(line)) last = line;
  }
  if (!words.empty() && !last.empty()) words += '\n';
  return words + last;
}

std::string others_sentence(const std::string& host, std::string_view said, std::string_view how) {
  const std::string last = line_of(said, "");
  if (last.empty()) return base::format("host {} ended the connection: {}", host, how);
  return base::format("host {} ended the connection: {}; it said {}", host, how,
                      base::their_words(last));
}

std::string unknown_option(std::string_view standard_error) {
  constexpr std::string_view kSaid = "Bad configuration option: ";
  // Before any host has a word: what is behind other lines may be a host's.
  const std::string_view line = standard_error.substr(0, standard_error.find('\n'));
  const std::size_t at = line.find(kSaid);
  if (at == std::string_view::npos || !line.starts_with("command-line")) return {};
  return std::string(base::trim(line.substr(at + kSaid.size())));
}

bool may_pass(std::string_view standard_error) {
  const Failure* failure = find_failure(standard_error).failure;
  return failure != nullptr && failure->may_pass;
}

}  // namespace gangrun::ssh
