#include "feed/lent_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"

namespace gangrun::feed {

namespace {

// A writer of nothing but pieces that end no frame must not keep the reader busy forever.
constexpr int kPiecesAtOnce = 16;

}  // namespace

base::Result<> check_frame_size(std::uint64_t size) {
  if (size <= kMaxFrameBytes) return {};
  return base::invalid_argument(
      base::format("a frame of {} bytes: at most {} are allowed", size, kMaxFrameBytes));
}

// Bytes that were lent and are now a copy at the same addresses.
class LentRing::Region {
 public:
  Region(char* data, std::size_t size) : data_(data), size_(size) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { munmap(data_, size_); }

 private:
  char* data_;
  std::size_t size_;
};

// The target of the hold of a frame in the ring.
class LentRing::Loan {
 public:
  Loan(std::shared_ptr<LentRing> ring, std::uint64_t begin)
      : ring_(std::move(ring)), begin_(begin) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() { ring_->give_back(begin_); }

  // Under the ring's mutex: the bytes are no longer in the ring.
  void keep(std::shared_ptr<Region> region) { region_ = std::move(region); }

 private:
  std::shared_ptr<LentRing> ring_;
  std::uint64_t begin_;
  std::shared_ptr<Region> region_;
};

std::shared_ptr<LentRing> LentRing::make(std::shared_ptr<RingMemory> memory, std::uint64_t position,
                                         std::function<void(std::uint64_t free)> on_room) {
  return std::make_shared<LentRing>(Key{}, std::move(memory), position, std::move(on_room));
}

LentRing::LentRing(Key /*key*/, std::shared_ptr<RingMemory> memory, std::uint64_t position,
                   std::function<void(std::uint64_t free)> on_room)
    : fd_memory_(memory),
      header_(&memory->header()),
      memory_(memory),
      reader_(std::move(memory), position),
      tail_(position),
      owner_(getpid()),
      on_room_(std::move(on_room)) {}

base::Result<std::optional<Frame>> LentRing::next(std::uint64_t limit) {
  base::Result<std::optional<Frame>> found = std::optional<Frame>();
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  {
    const std::lock_guard lock(mutex_);
    before = tail_;
    bool more = true;
    for (int i = 0; more && i < kPiecesAtOnce; ++i) found = next_piece(limit, more);
    after = tail_;
  }
  if (after != before) tell_room();
  return found;
}

base::Result<std::optional<Frame>> LentRing::next_piece(std::uint64_t limit, bool& more) {
  more = false;
  if (reader_.position() - tail_ > memory_->capacity() / 2 && !entries_.empty()) {
    GANGRUN_TRY(keep_lent());
  }
  GANGRUN_ASSIGN(const std::optional<Piece> piece, reader_.next(tail_, limit));
  if (!piece.has_value()) return std::optional<Frame>();
  auto found = take(*piece);
  move_tail();
  more = found.ok() && !found->has_value();
  return found;
}

base::Result<std::optional<Frame>> LentRing::take(const Piece& piece) {
  if ((piece.flags & kSkip) != 0) {
    add(piece, nullptr);
    return std::optional<Frame>();
  }
  const bool first = (piece.flags & kFirstPiece) != 0;
  const bool last = (piece.flags & kLastPiece) != 0;
  if (piece.kind == kBroken || first == in_pieces_ || (in_pieces_ && piece.kind != pieces_kind_)) {
    return base::Error{base::Code::kDataLoss,
                       base::format("a piece out of order at {}", piece.begin)};
  }
  if (first && last) {
    const auto loan = std::make_shared<Loan>(shared_from_this(), piece.begin);
    add(piece, loan.get());
    return std::optional(Frame{.kind = piece.kind, .data = {piece.data, piece.size}, .hold = loan});
  }
  if (pieces_.size() + piece.size > kMaxFrameBytes) {
    return base::Error{base::Code::kDataLoss,
                       base::format("a frame of more than {} bytes", kMaxFrameBytes)};
  }
  pieces_.append(piece.data, piece.size);
  pieces_kind_ = piece.kind;
  in_pieces_ = !last;
  add(piece, nullptr);
  if (!last) return std::optional<Frame>();
  const auto whole = std::make_shared<const std::string>(std::exchange(pieces_, std::string()));
  return std::optional(Frame{.kind = piece.kind, .data = *whole, .hold = whole});
}

void LentRing::drop_pieces() {
  const std::lock_guard lock(mutex_);
  pieces_ = std::string();
  in_pieces_ = false;
}

void LentRing::go_to(std::uint64_t position) {
  {
    const std::lock_guard lock(mutex_);
    if (position > reader_.position()) {
      entries_.push_back({.begin = reader_.position(), .end = position});
    }
    reader_.go_to(position);
    move_tail();
  }
  tell_room();
}

void LentRing::add(const Piece& piece, Loan* loan) {
  if (loan == nullptr && !entries_.empty() && entries_.back().loan == nullptr) {
    entries_.back().end = piece.end;
  } else {
    entries_.push_back({.begin = piece.begin, .end = piece.end, .loan = loan});
  }
}

void LentRing::give_back(std::uint64_t begin) {
  // In a child that the reader has forked: the frames are still the parent's, and the mutex may be
  // held by a thread that is not here.
  if (getpid() != owner_) return;
  bool moved = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::lower_bound(
        entries_.begin(), entries_.end(), begin,
        [](const Entry& entry, std::uint64_t wanted) { return entry.begin < wanted; });
    if (found == entries_.end() || found->begin != begin) return;  // it was kept as a copy
    found->loan = nullptr;
    moved = move_tail();
  }
  if (moved) tell_room();
}

bool LentRing::move_tail() {
  const std::uint64_t before = tail_;
  while (!entries_.empty() && entries_.front().loan == nullptr) {
    tail_ = entries_.front().end;
    entries_.pop_front();
  }
  if (tail_ == before || getpid() != owner_) return false;
  header_->tail.store(tail_, std::memory_order_seq_cst);
  return true;
}

void LentRing::tell_room() {
  std::uint64_t used = 0;
  {
    const std::lock_guard lock(mutex_);
    used = reader_.seen_head() - tail_;
  }
  if (on_room_) on_room_(capacity() - used);
}

// A new mapping of the ring for what comes; the old one keeps only what is lent, which becomes a
// copy page by page: the same bytes at the same addresses, whoever reads them meanwhile.
base::Result<> LentRing::keep_lent() {
  GANGRUN_ASSIGN(auto fresh, memory_->again());
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t capacity = memory_->capacity();
  struct Lent {
    std::size_t first;
    std::size_t last;
    Loan* loan;
  };
  std::vector<Lent> lent;
  for (const Entry& entry : entries_) {
    if (entry.loan == nullptr) continue;
    const std::size_t first = entry.begin % capacity;
    const std::size_t last = first + (entry.end - entry.begin);
    lent.push_back({first / page * page, (last + page - 1) / page * page, entry.loan});
  }
  std::sort(lent.begin(), lent.end(),
            [](const Lent& a, const Lent& b) { return a.first < b.first; });
  RingMemory::Regions regions;
  for (const Lent& one : lent) {
    if (!regions.empty() && one.first < regions.back().second) {
      regions.back().second = std::max(regions.back().second, one.last);
    } else {
      regions.emplace_back(one.first, one.last);
    }
  }
  char* const base = memory_->at(0);
  GANGRUN_TRY(memory_->leave_copies(regions));
  auto place = lent.begin();
  for (const auto& [first, last] : regions) {
    const auto region = std::make_shared<Region>(base + first, last - first);
    for (; place != lent.end() && place->first < last; ++place) place->loan->keep(region);
  }
  memory_ = fresh;
  reader_.use(std::move(fresh));
  entries_.clear();
  tail_ = reader_.position();
  if (getpid() == owner_) header_->tail.store(tail_, std::memory_order_seq_cst);
  return {};
}

base::Result<std::uint64_t> LentRing::head() {
  const std::lock_guard lock(mutex_);
  return reader_.head(tail_);
}

bool LentRing::idle(std::uint64_t limit) {
  const std::lock_guard lock(mutex_);
  const auto head = reader_.head(tail_);
  return head.ok() && reader_.position() >= std::min(*head, limit);
}

LentRing::Places LentRing::places() {
  const std::lock_guard lock(mutex_);
  return {.seen_head = reader_.seen_head(), .position = reader_.position(), .tail = tail_};
}

}  // namespace gangrun::feed
