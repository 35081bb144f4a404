#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::feed {

// Frames start at multiples of it, so that what is in them may be read as vectors of numbers.
inline constexpr std::size_t kAlignment = 64;

// The first page of the shared memory. Both ends may write all of it, so neither believes it: who
// reads an index checks it against what it knows itself.
struct RingHeader {
  // The writer's: bytes committed since the ring was made.
  alignas(kAlignment) std::atomic<std::uint64_t> head;
  // The reader's: bytes that it needs no more.
  alignas(kAlignment) std::atomic<std::uint64_t> tail;
  // The node sleeps on `bell` (a futex); who changes head or tail rings it when `node_waits`.
  alignas(kAlignment) std::atomic<std::uint32_t> node_waits;
  std::atomic<std::uint32_t> bell;
  // The feeder sleeps on its socket until there are so many bytes: of room, or of results.
  alignas(kAlignment) std::atomic<std::uint64_t> feeder_wants;
  std::atomic<std::uint64_t> feeder_waited_ns;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A ring of bytes in a memfd, mapped here twice in a row: so what starts before the end of the ring
// and goes on at its start is one region. The memfd is sealed: nobody can make it shorter, which
// would kill who reads behind its end.
class RingMemory {
  struct Key {};  // only create() and open() have one

 public:
  enum class Access { kRead, kWrite };

  // A new one of `capacity` bytes, a multiple of the page. kResourceExhausted: there is no memory.
  static base::Result<std::shared_ptr<RingMemory>> create(std::size_t capacity, Access access);
  // One that a peer has made; kDataLoss when it is not sealed, or of an impossible size.
  static base::Result<std::shared_ptr<RingMemory>> open(base::UniqueFd fd, Access access);
  // The same memory mapped once more.
  [[nodiscard]] base::Result<std::shared_ptr<RingMemory>> again() const;

  RingMemory(Key key, base::UniqueFd fd, std::size_t capacity, Access access);
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;
  ~RingMemory();

  [[nodiscard]] RingHeader& header() const { return *header_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // The address of the byte of a position; `capacity` bytes from there on are one region.
  [[nodiscard]] char* at(std::uint64_t position) const { return data_ + position % capacity_; }

  // Has the kernel give the pages of a region before they are touched: where it has none that is an
  // error here, else it would be the death of the process.
  base::Result<> populate(std::uint64_t position, std::size_t size);

  // [first, last) of bytes from the start of the ring, whole pages, in order, each up to twice the
  // capacity.
  using Regions = std::vector<std::pair<std::size_t, std::size_t>>;
  // Replaces the regions by private copies, the same bytes at the same addresses for whoever reads
  // them meanwhile, and gives back all other addresses. The regions are the caller's to unmap;
  // afterwards only header() and fd() may be used. On failure nothing has changed.
  base::Result<> leave_copies(const Regions& regions);

 private:
  base::Result<> map();
  base::Result<> populate_part(std::size_t part);
  base::Result<> copy_private(std::size_t first, std::size_t last);
  void map_shared(std::size_t first, std::size_t last);

  base::UniqueFd fd_;
  std::size_t capacity_;
  Access access_;
  RingHeader* header_ = nullptr;
  char* data_ = nullptr;
  std::vector<bool> populated_;  // by kPopulate bytes
};

}  // namespace gangrun::feed
