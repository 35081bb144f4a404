#include "client/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace gangrun::client {

namespace {

constexpr std::chrono::minutes kAnswerTimeout(10);

std::string to_text(const Lines& lines, bool colour) {
  std::string text;
  for (const Line& line : lines) text += line.to_terminal(colour) + "\n";
  return text;
}

}  // namespace

Console::Console(Options options)
    : out_(options.out), err_(options.err), colour_allowed_(options.colour_allowed) {}

void Console::write(Output& output, std::string_view text) {
  output.write(text);
  if (output.queued() == 0) return;
  if (on_blocked_) {
    on_blocked_();
  } else {
    output.drain(kReaderTimeoutMs);
  }
}

void Console::out(const Lines& lines) { out(to_text(lines, colour_on_out())); }
void Console::err(const Lines& lines) { err(to_text(lines, colour_on_err())); }
void Console::error(std::string_view sentence) {
  err(base::format("gangrun: {}\n", base::harmless_sentence(sentence)));
}

void Console::flush() {
  out_.flush();
  err_.flush();
}

void Console::stop_deferring() {
  on_blocked_ = nullptr;
  out_.drain(kReaderTimeoutMs);
  err_.drain(kReaderTimeoutMs);
}

base::Result<> Console::finish() {
  on_blocked_ = nullptr;
  out_.finish();
  err_.finish();
  if (out_.error()) return out_.error()->context("standard output");
  if (err_.error()) return err_.error()->context("standard error");
  return {};
}

void Console::give_up() {
  out_.give_up();
  err_.give_up();
}

std::optional<Size> Console::size() const {
  if (!out_is_terminal()) return std::nullopt;
  winsize size{};
  if (::ioctl(out_.fd(), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return Size{};
  }
  return Size{size.ws_col, size.ws_row};
}

bool is_agreed() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(kAnswerTimeout);
  if (::poll(&input, 1, static_cast<int>(limit.count())) <= 0) return false;
  std::array<char, 64> line{};
  const ssize_t got = ::read(STDIN_FILENO, line.data(), line.size());
  if (got <= 0) return false;
  const std::string_view answer =
      base::trim(std::string_view(line.data(), static_cast<std::size_t>(got)));
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace gangrun::client
