#include "client/exec_session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "base/signal_status.h"

namespace gangrun::client {

using wire::ExecStream;

namespace {

// A pipe that can be written takes so much without blocking.
constexpr std::size_t kPieceBytes = 4096;

}  // namespace

ExecSession::ExecSession(net::EventLoop& loop, Files files, std::unique_ptr<net::Channel> channel,
                         const wire::ExecBegin& begin,
                         std::function<void(base::Result<wire::ExecExit>)> on_end)
    : loop_(loop),
      files_(files),
      channel_(std::move(channel)),
      has_terminal_(begin.terminal.has_value()),
      on_end_(std::move(on_end)),
      out_{.fd = files.out, .which = ExecStream::kMain},
      err_{.fd = files.err, .which = ExecStream::kErrors} {
  channel_->send(to_frame(begin));
  channel_->on_closed([this](const base::Error& reason) {
    // All was said by then.
    if (exit_) return;
    const auto why = channel_->farewell();
    if (!why) {
      return end(
          reason.context("the command was ended, since the connection to the task's agent broke"));
    }
    // Else it was refused.
    const bool has_begun = reason.code == base::Code::kUnavailable;
    end(base::Error{reason.code, has_begun ? "the command was ended: " + *why : *why});
  });
  channel_->on_message([this](std::string_view message) { on_message(message); });
  read_on();
}

void ExecSession::signal(int number) { channel_->send(to_frame(wire::ExecSignal{number})); }

void ExecSession::set_window(const wire::ExecWindow& window) { channel_->send(to_frame(window)); }

void ExecSession::on_message(std::string_view message) {
  if (const auto taken = on_frame(message); !taken.ok()) {
    end(taken.error().context("the task's agent says what is not understood"));
  }
}

base::Result<> ExecSession::on_frame(std::string_view message) {
  GANGRUN_ASSIGN(const auto frame, wire::parse_exec_frame(message));
  using Taken = base::Result<>;
  return std::visit(base::Overloaded{
                        [this](const wire::ExecFlow& flow) { return on_flow(flow); },
                        [this](const wire::ExecExit& exit) {
                          on_exit(exit);
                          return Taken();
                        },
                        // Those are for the task's side.
                        [](const wire::ExecBegin&) { return Taken(); },
                        [](const wire::ExecWindow&) { return Taken(); },
                        [](const wire::ExecSignal&) { return Taken(); },
                    },
                    frame);
}

base::Result<> ExecSession::on_flow(const wire::ExecFlow& flow) {
  Output& output = flow.stream == ExecStream::kMain ? out_ : err_;
  GANGRUN_ASSIGN(const auto message, output.flow.on_message(flow.message));
  std::visit(base::Overloaded{
                 [&](const net::TunnelData& data) {
                   output.bytes += data.bytes;
                   write_on(output);
                 },
                 [&](const net::TunnelTaken&) { read_on(); },
                 [&](const net::TunnelEnd&) { tell_taken(output, 0); },
                 [](const net::TunnelOpened&) {},
             },
             message);
  return {};
}

void ExecSession::on_exit(const wire::ExecExit& exit) {
  exit_ = exit;
  look_for_end();
}

// Input that may not be sent yet is left where it is.
void ExecSession::read_on() {
  if (input_is_over_ || out_.flow.may_send() == 0) return readable_.reset();
  if (readable_.active()) return;
  readable_ = loop_.watch_readable(files_.in, [this] { on_readable(); });
}

void ExecSession::on_readable() {
  buffer_.resize(out_.flow.may_send());
  const ssize_t got = ::read(files_.in, buffer_.data(), buffer_.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    const std::string data =
        out_.flow.data(std::string_view(buffer_).substr(0, static_cast<std::size_t>(got)));
    channel_->send(to_frame(wire::ExecFlow{ExecStream::kMain, data}));
    return read_on();
  }
  input_is_over_ = true;
  readable_.reset();
  // A terminal that is gone.
  if (has_terminal_) return end(wire::ExecExit{base::kSignalStatus + SIGHUP});
  const std::string over = out_.flow.end();
  channel_->send(to_frame(wire::ExecFlow{ExecStream::kMain, over}));
}

void ExecSession::write_on(Output& output) {
  if (output.writable.active()) return;
  output.writable = loop_.watch_writable(output.fd, [this, &output] { write(output); });
}

void ExecSession::write(Output& output) {
  const std::size_t piece = std::min(output.bytes.size(), kPieceBytes);
  const ssize_t size = output.is_broken ? static_cast<ssize_t>(piece)
                                        : ::write(output.fd, output.bytes.data(), piece);
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    output.is_broken = true;
    if (output.which != ExecStream::kMain) return;
    // As if the command itself had written where nobody reads.
    if (errno == EPIPE) return end(wire::ExecExit{base::kSignalStatus + SIGPIPE});
    return end(base::from_errno(errno, "the output is incomplete: writing standard output"));
  }
  output.bytes.erase(0, static_cast<std::size_t>(size));
  tell_taken(output, static_cast<std::size_t>(size));
  if (!output.bytes.empty()) return;
  output.writable.reset();
  look_for_end();
}

void ExecSession::tell_taken(Output& output, std::size_t bytes) {
  if (const auto taken = output.flow.taken(bytes)) {
    channel_->send(to_frame(wire::ExecFlow{output.which, *taken}));
  }
}

void ExecSession::look_for_end() {
  if (exit_ && out_.bytes.empty() && err_.bytes.empty()) end(*exit_);
}

void ExecSession::end(base::Result<wire::ExecExit> how) {
  if (end_timer_.pending() || !on_end_) return;
  readable_.reset();
  out_.writable.reset();
  err_.writable.reset();
  end_timer_ = loop_.after(base::Duration(0), [this, how = std::move(how)] {
    const auto on_end = std::exchange(on_end_, nullptr);
    on_end(how);
  });
}

}  // namespace gangrun::client
