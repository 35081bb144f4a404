#include "cluster/ssh/node/output_sender.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/format.h"

namespace gangrun::node {

namespace {

// What a message counts for.
constexpr std::size_t kMessageBytes = 256;

}  // namespace

void OutputSender::tell(const cluster::KeeperMessage& message) {
  sink_(cluster::MessageFrame{cluster::to_json(message)});
}

void OutputSender::begin(const cluster::BringMessage& wanted) {
  is_sending_ = true;
  waiting_.clear();
  file_.reset();
  brought_ = {};
  auto written = folder_.written(wanted.names, wanted.new_too, wanted.limit);
  if (!written.ok()) return end(written.error().message);
  // The others are where the client is.
  if (wanted.only_rest) written->chosen = std::exchange(written->left, {});
  waiting_.assign(written->chosen.begin(), written->chosen.end());
  brought_.missing = std::move(written->missing);
  brought_.left_files = written->left.size();
  for (const WorkFolder::Entry& entry : written->left) {
    brought_.left_bytes += entry.size;
    if (brought_.left.size() < cluster::kMaxNamedOutputs) brought_.left.push_back(entry.name);
  }
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
  const WorkFolder::Entry entry = std::move(waiting_.front());
  waiting_.pop_front();
  name_ = entry.name;
  left_ = entry.size;
  if (entry.target.empty()) {
    const std::string path = base::format("{}/{}", folder_.path(), entry.name);
    file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file_.valid()) return end(base::from_errno(errno, base::format("open {}", path)).message);
    if (left_ == 0) file_.reset();
  }
  tell(cluster::OutputMessage{entry.name, entry.size, entry.is_executable, entry.target});
}

std::size_t OutputSender::send_piece() {
  std::string piece(std::min<std::uint64_t>(cluster::kMaxChunkBytes, left_), '\0');
  const ssize_t got = ::read(file_.get(), piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return 0;
  if (got <= 0) {
    end(got < 0 ? base::from_errno(errno, base::format("read {}", name_)).message
                : base::format("{} became shorter while it was brought", name_));
    return 0;
  }
  left_ -= static_cast<std::uint64_t>(got);
  sink_(cluster::FileFrame{std::string_view(piece).substr(0, static_cast<std::size_t>(got))});
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

}  // namespace gangrun::node
