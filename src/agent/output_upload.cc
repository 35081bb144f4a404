#include "agent/output_upload.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::agent {

namespace {

using Kind = cluster::FoundOutput::Kind;

constexpr const char* kTimeIsOver = "the time that the task has to stop is over";

// A piece counts for so much beside its bytes, which have two digits each; a byte of a name may
// have six.
std::int64_t cost_of(const wire::OutputPiece& piece) {
  constexpr std::size_t kOwnBytes = 100;
  return static_cast<std::int64_t>(piece.bytes.size() + kOwnBytes +
                                   3 * (piece.name.size() + piece.target.size()));
}

}  // namespace

OutputUpload::OutputUpload(net::EventLoop& loop, Order order, wire::QuestionNumbers& numbers,
                           std::function<void(const wire::AskMessage&)> ask)
    : loop_(loop),
      order_(std::move(order)),
      numbers_(numbers),
      ask_(std::move(ask)),
      worker_(loop, 1) {}

void OutputUpload::keep(int attempt, Done done) {
  done_ = std::move(done);
  attempt_ = attempt;
  is_cut_short_ = false;
  has_files_ = false;
  beginnings_ = 0;
  end_ = {};
  const auto begun = worker_.run(
      [order = order_] {
        return cluster::output_files(order.folder, order.names, order.limit, cluster::Links::kKept);
      },
      [this, turn = ++turn_](base::Result<cluster::OutputFiles> found) {
        if (turn == turn_ && done_) on_found(std::move(found));
      });
  if (!begun.ok()) over(begun.error().message);
}

void OutputUpload::on_found(base::Result<cluster::OutputFiles> found) {
  if (!found.ok()) return over(found.error().message);
  end_.files = *std::move(found);
  has_files_ = true;
  begin();
}

void OutputUpload::begin() {
  if (++beginnings_ > kMaxOutputBeginnings) {
    return over(base::format("the connection broke {} times", kMaxOutputBeginnings));
  }
  end_.written = 0;
  end_.failures.clear();
  end_.trouble = is_cut_short_ ? kTimeIsOver : "";
  next_ = 0;
  file_.reset();
  number_ = 0;
  part_size_.begin();
  send();
}

bool OutputUpload::has_more() const {
  return end_.trouble.empty() && (file_.valid() || next_ < end_.files.chosen.size());
}

void OutputUpload::send() {
  wire::OutputsPart part{.attempt = attempt_, .number = number_++};
  std::int64_t room = part_size_.bytes();
  while (has_more() && room > 0 && part.pieces.size() < wire::kMaxOutputPieces) {
    wire::OutputPiece piece = next_piece(room);
    room -= cost_of(piece);
    const bool is_none = piece.name.empty() && piece.bytes.empty();
    if (!is_none) part.pieces.push_back(std::move(piece));
  }
  is_last_ = part.is_last = !has_more();
  if (is_last_) part.lost = cluster::lost_words(end_, order_.limit);
  asked_ = numbers_.next();
  sent_at_ = loop_.now();
  limit_ = loop_.after(kResultPartTimeout, [this] {
    over(base::format("no answer came for {}", base::to_words(kResultPartTimeout)));
  });
  ask_({.id = asked_,
        .kind = std::string(wire::kOutputsKind),
        .about = base::to_json(part),
        .limit = kResultPartTimeout});
}

// Without a name and without bytes it is none.
wire::OutputPiece OutputUpload::next_piece(std::int64_t room) {
  wire::OutputPiece piece;
  if (!file_.valid()) piece = begin_next();
  room -= cost_of(piece);
  if (!file_.valid() || room <= 0) return piece;
  const std::int64_t length = std::min(left_, room);
  auto bytes =
      base::read_at(file_.get(), offset_, static_cast<std::size_t>(length), "read the file");
  if (!bytes.ok() || bytes->empty()) {
    fail(bytes.ok() ? "it became shorter while it was sent" : bytes.error().message);
    return piece;
  }
  const auto came = static_cast<std::int64_t>(bytes->size());
  piece.bytes = *std::move(bytes);
  offset_ += came;
  left_ -= came;
  if (left_ > 0) return piece;
  file_.reset();
  ++end_.written;
  return piece;
}

wire::OutputPiece OutputUpload::begin_next() {
  const cluster::FoundOutput& output = end_.files.chosen[next_++];
  if (output.kind == Kind::kFile) {
    auto opened = cluster::open_output(order_.folder, output.at);
    if (!opened.ok()) {
      fail(opened.error().message);
      return {};
    }
    offset_ = 0;
    left_ = static_cast<std::int64_t>(output.size);
    if (left_ > 0) file_ = *std::move(opened);
  }
  if (!file_.valid()) ++end_.written;
  return {.name = output.name,
          .size = output.kind == Kind::kFile ? left_ : 0,
          .is_executable = output.is_executable,
          .target = output.target,
          .is_folder = output.kind == Kind::kFolder};
}

// The file before cannot be sent, which does not stop the others.
void OutputUpload::fail(std::string why) {
  file_.reset();
  end_.failures.push_back({end_.files.chosen[next_ - 1].name, std::move(why)});
}

void OutputUpload::cut_short() {
  is_cut_short_ = true;
  if (!done_ || !has_files_ || is_last_) return;
  file_.reset();
  end_.trouble = kTimeIsOver;
  send();
}

void OutputUpload::on_attached() {
  if (done_ && has_files_) begin();
}

void OutputUpload::on_answer(const wire::AnswerMessage& answer) {
  if (!done_ || !has_files_ || answer.id != asked_) return;
  if (!answer.refused.empty()) return over(answer.refused);
  auto kept = base::from_json<wire::OutputsKept>(answer.said);
  if (!kept.ok()) return over(kept.error().message);
  if (is_last_) return over(std::move(kept->lost));
  part_size_.answered(loop_.now() - sent_at_);
  send();
}

void OutputUpload::over(std::string lost) {
  limit_.reset();
  file_.reset();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(lost), cluster::missing_words(end_));
}

}  // namespace gangrun::agent
