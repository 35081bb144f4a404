#include "client/console.h"

#include <sys/ioctl.h>

#include "base/format.h"
#include "base/terminal_text.h"

namespace gangrun::client {

namespace {

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

}  // namespace gangrun::client
