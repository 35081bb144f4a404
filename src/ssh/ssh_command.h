#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job/spec.h"

// The words to a host, as if typed: the command line of ssh, and the script for the shell that
// it starts there. No process, no clock.
namespace gangrun::ssh {

// The facts about the client that a host's keeper needs.
struct LoginInput {
  std::string marker;      // begins each line that is meant for us; nobody else's lines
  std::string host;        // as the user wrote it
  std::string folder;      // the one for what is kept there; empty: the first that can be used
  std::string agent_hash;  // SHA-256 of the agent's program, in hexadecimal digits
  std::size_t agent_bytes = 0;
  std::string working_folder;  // of the client, and the name of a file that marks it now
  std::string folder_mark;     // (folder_mark.h); empty: it has none
  std::string interface;       // of which the host's address is to be; empty: as ssh reached it
  job::Containment containment = job::Containment::kAuto;
};

// How long ssh may take to connect, and after which silence it gives a connection up.
inline constexpr int kConnectSeconds = 15;
inline constexpr int kAliveSeconds = 5;
inline constexpr int kAliveCount = 3;

// How ssh is called. An older one does not know all options that we give it; it names one of them
// (unknown_option()) and is called again without, if it is one that may be missing.
struct SshCall {
  std::string config;                  // a file for -F; empty: the user's own
  std::set<std::string> unknown = {};  // in small letters, as ssh names them
};

// Whether ssh is to be called once more without that option: it is one of ours that older ones do
// not have, and was not left out before. `name` in small letters, or empty.
bool leave_out(const std::string& name, SshCall& call);

// OpenSSH's client, which asks the user nothing and runs a shell that reads its standard input.
std::vector<std::string> ssh_command(const std::string& host, const SshCall& call);

// The same, which carries a connection to "host:port", as the host reaches it, instead.
std::vector<std::string> ssh_command_to(const std::string& host, const SshCall& call,
                                        const std::string& address);

// For a POSIX shell: finds the agent or takes it, and becomes the keeper (node/keeper.h). It uses
// no more than what every Linux has. What it says are the lines below.
std::string login_script(const LoginInput& input);

// A line of the script.
enum class ScriptWord {
  kNeedsAgent,    // its bytes are to follow now
  kHasAgent,      // from here on frames follow
  kOtherMachine,  // "Linux aarch64"
  kNoFolder,      // for each folder: what is wrong with it
  kAgentNotKept,  // why
  kOther,  // nothing that the script says, though with the marker: something else has read it
};
struct ScriptLine {
  ScriptWord word = ScriptWord::kOther;
  std::string rest;  // what follows the word

  friend bool operator==(const ScriptLine&, const ScriptLine&) = default;
};

// Finds the script's lines among what a login says beside them.
class ScriptReader {
 public:
  explicit ScriptReader(std::string marker) : marker_(std::move(marker)) {}

  [[nodiscard]] const std::string& marker() const { return marker_; }
  void add(std::string_view bytes) {
    has_heard_ = has_heard_ || !bytes.empty();
    text_.append(bytes);
  }
  // Whether anything came.
  [[nodiscard]] bool has_heard() const { return has_heard_; }
  // None: no whole line yet.
  std::optional<ScriptLine> next();
  // The bytes behind the last line that next() gave.
  std::string take_rest() { return std::exchange(text_, {}); }
  [[nodiscard]] const std::string& rest() const { return text_; }
  // The output of the login itself: its end, and how much it was.
  [[nodiscard]] const std::string& noise() const { return noise_; }
  [[nodiscard]] std::size_t skipped_bytes() const { return skipped_; }

 private:
  std::string marker_;
  std::string text_;
  std::string noise_;
  std::size_t skipped_ = 0;
  bool has_heard_ = false;
};

}  // namespace gangrun::ssh
