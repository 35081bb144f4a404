#include "cluster/ssh/ssh_failure.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace gangrun::cluster {

namespace {

constexpr std::size_t kMaxLastLine = 300;
constexpr std::string_view kOwnName = "ssh: ";

struct Failure {
  std::string_view said;
  // What it means: the host's name stands at each "{0}".
  std::string_view sentence;
  bool may_pass = false;
};

constexpr std::string_view kNoSshd =
    "what listens at the port of host {0} is no sshd; try `ssh {0}`";
// Of sshd's and of others' connections the end is the same.
constexpr std::string_view kClosedAtOnce =
    "host {0} closes connections before they begin: its sshd takes no more logins now "
    "(MaxStartups), or something else listens at its port";

// In this order: the first that was said counts. Of a jump host ssh says its own failure first.
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
    // Of a jump host.
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

const Failure* find_failure(std::string_view said) {
  std::string own;
  for (const std::string& line : base::split(said, '\n')) {
    const std::string_view trimmed = base::trim(line);
    if (is_own(trimmed)) own.append(trimmed).append("\n");
  }
  for (const Failure& failure : kFailures) {
    if (own.find(failure.said) != std::string::npos) return &failure;
  }
  return nullptr;
}

std::string with_host(std::string_view sentence, const std::string& host) {
  constexpr std::string_view kHost = "{0}";
  std::string text(sentence);
  std::size_t at = 0;
  while ((at = text.find(kHost, at)) != std::string::npos) {
    text.replace(at, kHost.size(), host);
    at += host.size();
  }
  return text;
}

// Where the connection was closed before it began, no host has said anything: another line is of
// what leads there from here.
std::string line_of_way(std::string_view said) {
  for (const std::string& line : base::split(said, '\n')) {
    const std::string_view trimmed = base::trim(line);
    if (!trimmed.empty() && !is_own(trimmed)) return std::string(trimmed);
  }
  return {};
}

// The line that says it, or the last one.
std::string line_of(std::string_view said, std::string_view part) {
  std::string last;
  for (const std::string& line : base::split(said, '\n')) {
    const std::string_view trimmed = base::trim(line);
    if (trimmed.empty()) continue;
    last = trimmed;
    if (!part.empty() && is_own(trimmed) && line.find(part) != std::string::npos) break;
  }
  return base::shorten(base::harmless_sentence(last), kMaxLastLine);
}

}  // namespace

std::string failure_sentence(const std::string& host, std::string_view standard_error,
                             std::string_view how) {
  const Failure* failure = find_failure(standard_error);
  if (failure != nullptr) {
    std::string way = failure->sentence == kClosedAtOnce ? line_of_way(standard_error) : "";
    if (!way.empty()) {
      return base::format(
          "what leads to host {} (ProxyCommand, ProxyJump) ended before there was a connection; it "
          "said {}",
          host, base::their_words(way));
    }
    std::string line = line_of(standard_error, failure->said);
    // Some of its lines begin with its name.
    if (line.starts_with(kOwnName)) line.erase(0, kOwnName.size());
    return base::format("{} ({}{})", with_host(failure->sentence, host), kOwnName, line);
  }
  return others_sentence(host, standard_error, how);
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
  const Failure* failure = find_failure(standard_error);
  return failure != nullptr && failure->may_pass;
}

}  // namespace gangrun::cluster
