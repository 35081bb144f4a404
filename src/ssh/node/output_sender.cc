#include "ssh/node/output_sender.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/format.h"

namespace gangrun::ssh::node {

namespace {

// The bytes that a message counts for.
constexpr std::size_t kMessageBytes = 256;

}  // namespace

void OutputSender::tell(const ssh::KeeperMessage& message) {
  sink_(ssh::MessageFrame{ssh::to_json(message)});
}

void OutputSender::begin(const ssh::BringMessage& wanted) {
  is_sending_ = true;
  waiting_.clear();
  file_.reset();
  brought_ = {};
  auto written = folder_.written(wanted.names, wanted.new_too, wanted.limit);
  if (!written.ok()) {
    brought_.is_gone = written.error().code == base::Code::kNotFound;
    return end(written.error().message);
  }
  // The others are where the client is.
  if (wanted.only_rest) written->chosen = std::exchange(written->left, {});
  waiting_.assign(written->chosen.begin(), written->chosen.end());
  brought_.missing = std::move(written->missing);
  brought_.left_files = written->left.size();
  for (const cluster::FoundOutput& output : written->left) {
    brought_.left_bytes += output.size;
    if (brought_.left.size() < ssh::kMaxNamedOutputs) brought_.left.push_back(output.name);
  }
  for (cluster::OddOutput& odd : written->odd) add_odd(std::move(odd));
}

void OutputSender::add_odd(cluster::OddOutput odd) {
  ++brought_.odd_files;
  if (brought_.odd.size() < ssh::kMaxNamedOutputs) brought_.odd.push_back(std::move(odd));
}

void OutputSender::send(std::size_t bytes) {
  std::size_t sent = 0;
  while (is_sending_ && sent < bytes) {
    if (file_.valid()) {
      sent += send_piece();
    } else if (waiting_.empty()) {
      end({});
    } else {
      begin_next();
      sent += kMessageBytes;
    }
  }
}

void OutputSender::begin_next() {
  const cluster::FoundOutput output = std::move(waiting_.front());
  waiting_.pop_front();
  const bool is_file = output.kind == cluster::FoundOutput::Kind::kFile;
  if (is_file) {
    auto opened = cluster::open_output(folder_.path(), output.at);
    // It does not stop the others.
    if (!opened.ok()) return add_odd({output.name, opened.error().message});
    name_ = output.name;
    left_ = output.size;
    if (left_ > 0) file_ = std::move(*opened);
  }
  tell(ssh::OutputMessage{output.name, output.size, output.is_executable, output.target,
                          output.kind == cluster::FoundOutput::Kind::kFolder});
}

std::size_t OutputSender::send_piece() {
  std::string piece(std::min<std::uint64_t>(ssh::kMaxChunkBytes, left_), '\0');
  const ssize_t got = ::read(file_.get(), piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return 0;
  if (got <= 0) {
    end(got < 0 ? base::from_errno(errno, base::format("read {}", name_)).message
                : base::format("{} became shorter while it was brought", name_));
    return 0;
  }
  left_ -= static_cast<std::uint64_t>(got);
  sink_(ssh::FileFrame{std::string_view(piece).substr(0, static_cast<std::size_t>(got))});
  if (left_ == 0) file_.reset();
  return static_cast<std::size_t>(got);
}

void OutputSender::end(std::string failure) {
  is_sending_ = false;
  file_.reset();
  waiting_.clear();
  brought_.failure = std::move(failure);
  tell(std::exchange(brought_, {}));
}

}  // namespace gangrun::ssh::node
