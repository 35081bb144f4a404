#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/described.h"
#include "base/described_json.h"
#include "base/result.h"

// The messages of a command beside a running task (docs/protocols/registry.md, "GET /v1/exec"): its
// first byte says what a message is.
namespace gangrun::wire {

// At once, of one agent.
inline constexpr std::size_t kMaxExecs = 32;
// The bytes of one message: a command with all its words is the longest.
inline constexpr std::size_t kMaxExecFrameBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxExecWords = 10'000;
inline constexpr std::size_t kMaxExecWordBytes = std::size_t{128} << 10U;
inline constexpr std::size_t kMaxExecTermBytes = 80;
inline constexpr std::size_t kMaxExecRefusalBytes = std::size_t{1} << 10U;
inline constexpr int kMaxWindowSide = 10'000;

// The size of the user's terminal, in characters.
struct ExecWindow {
  int rows = 24;
  int columns = 80;

  static constexpr std::string_view kName = "w";
  static constexpr auto rows_and_columns() {
    return std::tuple(base::row("rows", &ExecWindow::rows, base::Range{1, kMaxWindowSide}),
                      base::row("columns", &ExecWindow::columns, base::Range{1, kMaxWindowSide}));
  }

  friend bool operator==(const ExecWindow&, const ExecWindow&) = default;
};

}  // namespace gangrun::wire

namespace gangrun::base {

// Its own `rows` is a number.
template <>
struct RowsOf<wire::ExecWindow> {
  static constexpr auto rows() { return wire::ExecWindow::rows_and_columns(); }
};

}  // namespace gangrun::base

namespace gangrun::wire {

// The first message of the user's side.
struct ExecBegin {
  std::vector<std::string> command;      // empty: a shell
  std::optional<ExecWindow> terminal{};  // none: the command gets pipes
  std::string term{};                    // the kind of the terminal: "xterm-256color"

  static constexpr std::string_view kName = "b";
  static constexpr auto rows() {
    return std::tuple(
        base::row("command", &ExecBegin::command,
                  base::ListOf<base::Bytes>{kMaxExecWords, base::Bytes{kMaxExecWordBytes}}),
        base::row("terminal", &ExecBegin::terminal),
        base::row_if_set("term", &ExecBegin::term, base::Bytes{kMaxExecTermBytes, true}));
  }

  friend bool operator==(const ExecBegin&, const ExecBegin&) = default;
};

// For the command, as a terminal or `kill` would send it.
struct ExecSignal {
  int number = 0;

  static constexpr std::string_view kName = "k";
  static constexpr auto rows() {
    return std::tuple(base::row("number", &ExecSignal::number, base::Range{1, 64}));
  }

  friend bool operator==(const ExecSignal&, const ExecSignal&) = default;
};

// The last message of the task's side: how the command ended, or why it could not be started.
struct ExecExit {
  int status = 0;  // as a shell says it: 126 and 127 with `refused`
  std::string refused{};

  static constexpr std::string_view kName = "x";
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("status", &ExecExit::status, base::Range{0, 255}),
        base::row_if_set("refused", &ExecExit::refused, base::Bytes{kMaxExecRefusalBytes, true}));
  }

  friend bool operator==(const ExecExit&, const ExecExit&) = default;
};

// A message of TunnelFlow. The main stream is the command's input, and its output the other way;
// of the errors only the way to the user has bytes.
enum class ExecStream { kMain, kErrors };
struct ExecFlow {
  ExecStream stream = ExecStream::kMain;
  std::string_view message;  // of the frame

  friend bool operator==(const ExecFlow&, const ExecFlow&) = default;
};

using ExecFrame = std::variant<ExecFlow, ExecBegin, ExecWindow, ExecSignal, ExecExit>;

// The error says what is wrong with it.
base::Result<ExecFrame> parse_exec_frame(std::string_view frame);
std::string to_frame(const ExecFrame& frame);

}  // namespace gangrun::wire
