#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "base/secret.h"
#include "wire/message_forms.h"

// The questions of an agent and its master to each other, beside those of key_messages.h. Each
// stands in an AskMessage and its answer; only the two ends know it.
namespace gangrun::wire {

// Numbers the questions of one side, whichever part of it asks.
class QuestionNumbers {
 public:
  [[nodiscard]] std::int64_t next() { return ++last_; }

 private:
  std::int64_t last_ = 0;
};

// To the master: a part of what the run has left as its result, asked when the processes of the run
// have ended and before its end is told. The next part follows the answer, which is a ResultKept; a
// new session begins again. A refusal says that nothing is kept, and nothing more is wanted.
inline constexpr std::string_view kResultKind = "result";

struct ResultPart {
  int attempt = 1;
  std::int64_t offset = 0;
  std::int64_t size = 0;  // of the whole, more than 0
  std::string bytes;      // at least one

  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &ResultPart::attempt, kAttemptForm),
                      base::row("offset", &ResultPart::offset, base::Range{0, kMaxResultBytes - 1}),
                      base::row("size", &ResultPart::size, base::Range{1, kMaxResultBytes}),
                      base::row("bytes", &ResultPart::bytes, base::Hex{kMaxResultPartBytes}));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const ResultPart&, const ResultPart&) = default;
};

// So much of the result, from its beginning, is kept.
struct ResultKept {
  std::int64_t kept = 0;

  static constexpr auto rows() {
    return std::tuple(base::row("kept", &ResultKept::kept, base::Range{0, kMaxResultBytes}));
  }

  friend bool operator==(const ResultKept&, const ResultKept&) = default;
};

// To the master: a part of what the run has left as its outputs. Those of a run that has succeeded
// come before its end is told, those of others before the agent leaves. The next part follows the
// answer, which is an OutputsKept; a new session begins again. A refusal says that no more is
// wanted, and why.
inline constexpr std::string_view kOutputsKind = "outputs";

// A file, a link or an empty folder that begins, or more of the file before it.
struct OutputPiece {
  std::string name{};  // relative to the working folder; empty: more of the file
  std::int64_t size = 0;
  bool is_executable = false;
  std::string target{};  // of a link
  bool is_folder = false;
  std::string bytes{};

  static constexpr auto rows() {
    return std::tuple(
        base::row_if_set("name", &OutputPiece::name, base::Bytes{kMaxOutputNameBytes}),
        base::row_if_set("size", &OutputPiece::size, kNumberForm),
        base::row_if_set("is_executable", &OutputPiece::is_executable),
        base::row_if_set("target", &OutputPiece::target, base::Bytes{kMaxOutputNameBytes}),
        base::row_if_set("is_folder", &OutputPiece::is_folder),
        base::row_if_set("bytes", &OutputPiece::bytes, base::Hex{kMaxResultPartBytes}));
  }

  friend bool operator==(const OutputPiece&, const OutputPiece&) = default;
};

struct OutputsPart {
  int attempt = 1;
  std::int64_t number = 0;  // of the part; 0: all begins again
  std::vector<OutputPiece> pieces{};
  bool is_last = false;
  std::string lost{};  // what the agent does not send, and why; with the last part

  static constexpr auto rows() {
    return std::tuple(
        base::row("attempt", &OutputsPart::attempt, kAttemptForm),
        base::row("number", &OutputsPart::number, kNumberForm),
        base::row("pieces", &OutputsPart::pieces, base::ListOf<base::Plain>{kMaxOutputPieces, {}}),
        base::row_if_set("is_last", &OutputsPart::is_last),
        base::row_if_set("lost", &OutputsPart::lost, base::Bytes{kMaxLostOutputsBytes, true}));
  }

  friend bool operator==(const OutputsPart&, const OutputsPart&) = default;
};

// The part is kept, and after the last one: what of all of them is not, and why.
struct OutputsKept {
  std::string lost{};

  static constexpr auto rows() {
    return std::tuple(
        base::row_if_set("lost", &OutputsKept::lost, base::Bytes{kMaxLostOutputsBytes, true}));
  }

  friend bool operator==(const OutputsKept&, const OutputsKept&) = default;
};

// To the master: where the agent's copy of the job's files has come to, asked before the first run
// of its task, which is at its place only then. The files are one stream, in the order of the
// master's list. The answer is a FilesPart with what follows; one without pieces says that all is
// there. A new session goes on where the last one was. A refusal says that the agent will not get
// them, and why.
inline constexpr std::string_view kFilesKind = "files";

struct FilesWanted {
  std::int64_t file = 0;    // so many are whole
  std::int64_t offset = 0;  // so many bytes of the next one are there
  std::int64_t room = 1;    // for so many bytes
  std::string failed{};     // the agent gives up, and why: it is not given more

  static constexpr auto rows() {
    return std::tuple(
        base::row("file", &FilesWanted::file, kNumberForm),
        base::row("offset", &FilesWanted::offset, kNumberForm),
        base::row("room", &FilesWanted::room, base::Range{1, kMaxResultPartBytes}),
        base::row_if_set("failed", &FilesWanted::failed, base::Bytes{kMaxReasonBytes, true}));
  }

  friend bool operator==(const FilesWanted&, const FilesWanted&) = default;
};

// A file that begins, or more of the file before it.
struct FilePiece {
  std::string name{};  // relative to the working folder; empty: more of the file
  std::int64_t size = 0;
  bool is_executable = false;
  std::string digest{};  // SHA-256 of the whole file, where it begins
  std::string bytes{};

  static constexpr auto rows() {
    return std::tuple(base::row_if_set("name", &FilePiece::name, base::Bytes{kMaxOutputNameBytes}),
                      base::row_if_set("size", &FilePiece::size, kNumberForm),
                      base::row_if_set("is_executable", &FilePiece::is_executable),
                      base::row_if_set("digest", &FilePiece::digest, Fingerprint{}),
                      base::row_if_set("bytes", &FilePiece::bytes, base::Hex{kMaxResultPartBytes}));
  }

  friend bool operator==(const FilePiece&, const FilePiece&) = default;
};

struct FilesPart {
  std::vector<FilePiece> pieces{};

  static constexpr auto rows() {
    return std::tuple(
        base::row("pieces", &FilesPart::pieces, base::ListOf<base::Plain>{kMaxOutputPieces, {}}));
  }

  friend bool operator==(const FilesPart&, const FilesPart&) = default;
};

// To an agent: new tokens of the place in place of those that the task was started with, as a token
// file of Hadoop (docs/secure-clusters.md). The file that the user's process knows gets it.
inline constexpr std::string_view kTokensKind = "tokens";

struct Tokens {
  base::Secret file;

  static constexpr auto rows() {
    return std::tuple(base::row("file", &Tokens::file, base::Hex{kMaxTokensBytes}));
  }

  friend bool operator==(const Tokens& one, const Tokens& other) {
    return one.file.reveal() == other.file.reveal();
  }
};

// The address by which an agent is called.
struct ControlPlace {
  std::string host;
  std::uint16_t port = 0;
  std::string fingerprint;  // of the agent's certificate

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("host", &ControlPlace::host),
                      base::row("port", &ControlPlace::port, base::Range{1, 65535}),
                      base::row("fingerprint", &ControlPlace::fingerprint, Fingerprint{}));
  }

  friend bool operator==(const ControlPlace&, const ControlPlace&) = default;
};

// To an agent: where it is called (docs/protocols/registry.md, "The control address of an agent").
// Beside its master it listens there only once it was asked.
inline constexpr std::string_view kControlKind = "control";

struct ControlAnswer {
  ControlPlace control;
  base::Secret secret;  // of the job: who may ask has it

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::flat_row(&ControlAnswer::control),
                      base::row("secret", &ControlAnswer::secret));
  }
};

}  // namespace gangrun::wire
