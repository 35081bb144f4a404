#include "feed/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"

namespace gangrun::feed {

namespace {

constexpr std::size_t kRingHeaderBytes = 4096;
constexpr std::size_t kMinCapacity = 64 << 10;
constexpr std::size_t kMaxCapacity = std::size_t{1} << 40;
constexpr std::size_t kPopulate = 1 << 20;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
// Advice of Linux 5.14; older headers do not name it.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

static_assert(sizeof(RingHeader) <= kRingHeaderBytes);

base::Error no_memory(std::size_t capacity, int error) {
  return base::Error{base::Code::kResourceExhausted,
                     base::format("no memory for a ring of {} MiB: {}", capacity >> 20,
                                  base::from_errno(error, "mmap").message)};
}

}  // namespace

RingMemory::RingMemory(Key /*key*/, base::UniqueFd fd, std::size_t capacity, Access access)
    : fd_(std::move(fd)),
      capacity_(capacity),
      access_(access),
      populated_((capacity + kPopulate - 1) / kPopulate) {}

RingMemory::~RingMemory() {
  if (header_ != nullptr) munmap(header_, kRingHeaderBytes);
  if (data_ != nullptr) munmap(data_, 2 * capacity_);
}

base::Result<std::shared_ptr<RingMemory>> RingMemory::create(std::size_t capacity, Access access) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  capacity = (std::clamp(capacity, kMinCapacity, kMaxCapacity) + page - 1) / page * page;
  GANGRUN_ASSIGN(base::UniqueFd fd, base::memory_file("gangrun-feed"));
  if (ftruncate(fd.get(), static_cast<off_t>(kRingHeaderBytes + capacity)) != 0) {
    return no_memory(capacity, errno);
  }
  if (base::has_memory_files() && fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return base::from_errno(errno, "sealing a ring");
  }
  auto made = std::make_shared<RingMemory>(Key{}, std::move(fd), capacity, access);
  GANGRUN_TRY(made->map());
  return made;
}

base::Result<std::shared_ptr<RingMemory>> RingMemory::open(base::UniqueFd fd, Access access) {
  struct stat found {};
  if (!fd.valid() || fstat(fd.get(), &found) != 0) {
    return base::Error{base::Code::kDataLoss, "the peer sent no ring"};
  }
  // Without seals, which came with memory files, a peer that cuts the ring kills us: it has our
  // user, so it could do so in any case.
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (base::has_memory_files() && (seals < 0 || (seals & kSeals) != kSeals)) {
    return base::Error{base::Code::kDataLoss, "the peer's ring is not sealed"};
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size < kRingHeaderBytes + kMinCapacity || size > kRingHeaderBytes + kMaxCapacity ||
      (size - kRingHeaderBytes) % page != 0) {
    return base::Error{base::Code::kDataLoss,
                       base::format("the peer's ring has {} bytes, which cannot be", size)};
  }
  auto made = std::make_shared<RingMemory>(Key{}, std::move(fd), size - kRingHeaderBytes, access);
  GANGRUN_TRY(made->map());
  return made;
}

base::Result<std::shared_ptr<RingMemory>> RingMemory::again() const {
  base::UniqueFd copy(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return base::from_errno(errno, "copying the descriptor of a ring");
  return open(std::move(copy), access_);
}

base::Result<> RingMemory::map() {
  void* first = mmap(nullptr, kRingHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (first == MAP_FAILED) return no_memory(capacity_, errno);
  header_ = static_cast<RingHeader*>(first);
  void* space =
      mmap(nullptr, 2 * capacity_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return no_memory(capacity_, errno);
  data_ = static_cast<char*>(space);
  const int protection = access_ == Access::kWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  for (const std::size_t half : {std::size_t{0}, capacity_}) {
    if (mmap(data_ + half, capacity_, protection, MAP_SHARED | MAP_FIXED, fd_.get(),
             kRingHeaderBytes) == MAP_FAILED) {
      return no_memory(capacity_, errno);
    }
  }
  return {};
}

base::Result<> RingMemory::populate(std::uint64_t position, std::size_t size) {
  const std::size_t begin = position % capacity_;
  const std::size_t end = std::min(begin + size, capacity_);
  for (std::size_t part = begin / kPopulate; part * kPopulate < end; ++part) {
    if (!populated_[part]) GANGRUN_TRY(populate_part(part));
  }
  return begin + size > capacity_ ? populate(0, begin + size - capacity_) : base::Result<>();
}

base::Result<> RingMemory::populate_part(std::size_t part) {
  const std::size_t begin = part * kPopulate;
  const std::size_t bytes = std::min(kPopulate, capacity_ - begin);
  const int advice = access_ == Access::kWrite ? kPopulateWrite : kPopulateRead;
  while (madvise(data_ + begin, bytes, advice) != 0) {
    if (errno == EINVAL) break;  // an older kernel: the pages come when they are touched
    if (errno == EINTR || errno == EAGAIN) continue;
    return no_memory(capacity_, ENOMEM).context("while growing into it");
  }
  populated_[part] = true;
  return {};
}

base::Result<> RingMemory::leave_copies(const Regions& regions) {
  for (std::size_t i = 0; i < regions.size(); ++i) {
    auto copied = copy_private(regions[i].first, regions[i].second);
    if (copied.ok()) continue;
    for (std::size_t j = 0; j <= i; ++j) map_shared(regions[j].first, regions[j].second);
    return copied;
  }
  std::size_t begin = 0;
  for (const auto& [first, last] : regions) {
    if (first > begin) munmap(data_ + begin, first - begin);
    begin = last;
  }
  if (2 * capacity_ > begin) munmap(data_ + begin, 2 * capacity_ - begin);
  data_ = nullptr;
  return {};
}

base::Result<> RingMemory::copy_private(std::size_t first, std::size_t last) {
  const std::size_t size = last - first;
  void* copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return no_memory(capacity_, errno).context("keeping frames in use");
  std::memcpy(copy, data_ + first, size);
  if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, data_ + first) == MAP_FAILED) {
    const int error = errno;
    munmap(copy, size);
    return no_memory(capacity_, error).context("keeping frames in use");
  }
  return {};
}

void RingMemory::map_shared(std::size_t first, std::size_t last) {
  const int protection = access_ == Access::kWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  while (first < last) {
    const std::size_t end = first < capacity_ ? std::min(last, capacity_) : last;
    void* mapped = mmap(data_ + first, end - first, protection, MAP_SHARED | MAP_FIXED, fd_.get(),
                        static_cast<off_t>(kRingHeaderBytes + first % capacity_));
    GANGRUN_CHECK(mapped != MAP_FAILED, first, last, errno);
    first = end;
  }
}

}  // namespace gangrun::feed
