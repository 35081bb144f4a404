#include "feed/message.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::feed {

namespace {

constexpr std::uint32_t kMessageMark = 0x46475247;  // "GRGF" as it lies in memory
constexpr std::uint16_t kVersion = 1;

struct Head {
  std::uint32_t mark;
  std::uint16_t version;
  std::uint16_t type;
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
};
static_assert(sizeof(Head) + kMaxTextBytes == kMaxMessageBytes);

constexpr int kBacklog = 256;
// So much may lie unread at the peer before hints to it are dropped; what it must get has room
// left.
constexpr int kMaxUnread = 32 << 10;

struct Address {
  sockaddr_un address{};
  socklen_t size = 0;
};

base::Result<Address> address_of(const std::string& name) {
  Address made;
  if (name.empty() || name.size() + 1 > sizeof made.address.sun_path) {
    return base::invalid_argument(base::format("name '{}': allowed are 1 to {} bytes", name,
                                               sizeof made.address.sun_path - 1));
  }
  made.address.sun_family = AF_UNIX;
  std::memcpy(&made.address.sun_path[1], name.data(), name.size());
  made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return made;
}

const sockaddr* as_sockaddr(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.address);
}

base::Error gone() { return base::unavailable("the other end of the feed has gone"); }

// The first of the descriptors that came with a message; the others are closed.
base::UniqueFd passed_with(msghdr& header) {
  base::UniqueFd kept;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      base::UniqueFd one(fd);
      if (!kept.valid()) kept = std::move(one);
    }
  }
  return kept;
}

}  // namespace

std::string encode(const Message& message) {
  const Head head{.mark = kMessageMark,
                  .version = kVersion,
                  .type = static_cast<std::uint16_t>(message.type),
                  .a = message.a,
                  .b = message.b,
                  .c = message.c};
  std::string bytes(sizeof head, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes + (message.text.size() <= kMaxTextBytes
                      ? message.text
                      : base::shorten(message.text, kMaxTextBytes));
}

base::Result<Message> decode(std::string_view bytes) {
  Head head{};
  if (bytes.size() < sizeof head || bytes.size() > kMaxMessageBytes) {
    return base::Error{base::Code::kDataLoss,
                       base::format("a message of {} bytes is none of the feed", bytes.size())};
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.mark != kMessageMark)
    return base::Error{base::Code::kDataLoss, "no message of the feed"};
  if (head.version != kVersion) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("the peer speaks version {} of the feed, here it is {}",
                                    head.version, kVersion)};
  }
  if (head.type < static_cast<std::uint16_t>(MessageType::kHello) ||
      head.type > static_cast<std::uint16_t>(MessageType::kEnd)) {
    return base::Error{base::Code::kDataLoss,
                       base::format("an unknown message, number {}", head.type)};
  }
  return Message{.type = static_cast<MessageType>(head.type),
                 .a = head.a,
                 .b = head.b,
                 .c = head.c,
                 .text = std::string(bytes.substr(sizeof head))};
}

base::Result<base::UniqueFd> listen_at(const std::string& name) {
  GANGRUN_ASSIGN(const Address address, address_of(name));
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return base::from_errno(errno, "socket");
  if (::bind(fd.get(), as_sockaddr(address), address.size) != 0) {
    if (errno == EADDRINUSE) {
      return base::Error{base::Code::kAlreadyExists,
                         base::format("somebody listens at '{}' already", name)};
    }
    return base::from_errno(errno, base::format("bind '{}'", name));
  }
  if (::listen(fd.get(), kBacklog) != 0) {
    return base::from_errno(errno, base::format("listen at '{}'", name));
  }
  return fd;
}

base::Result<std::optional<base::UniqueFd>> accept_at(int listening) {
  base::UniqueFd fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.valid()) return std::optional(std::move(fd));
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) {
    return std::optional<base::UniqueFd>();
  }
  return base::from_errno(errno, "accept");
}

base::Result<base::UniqueFd> connect_to(const std::string& name, base::Duration timeout) {
  GANGRUN_ASSIGN(const Address address, address_of(name));
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return base::from_errno(errno, "socket");
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(timeout).count();
  timeval limit{};
  limit.tv_sec = micros / 1'000'000;
  limit.tv_usec = micros > 0 ? micros % 1'000'000 : 1;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) {
    return base::from_errno(errno, "setsockopt");
  }
  if (::connect(fd.get(), as_sockaddr(address), address.size) == 0) return fd;
  if (errno == ECONNREFUSED) {
    return base::not_found(base::format("nobody listens at '{}'", name));
  }
  if (errno == EAGAIN || errno == EINTR) {
    return base::deadline_exceeded(base::format("who listens at '{}' does not accept", name));
  }
  return base::from_errno(errno, base::format("connect to '{}'", name));
}

base::Result<base::UniqueFd> check_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return base::from_errno(errno, "asking who the other end is");
  }
  if (peer.uid != ::geteuid() && peer.uid != 0) {
    return base::Error{base::Code::kPermissionDenied,
                       base::format("the other end of the feed is user {}'s, this one {}'s",
                                    peer.uid, ::geteuid())};
  }
  if (peer.pid <= 0) return base::UniqueFd();  // of another PID namespace
  return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
}

base::Result<bool> send_message(int fd, const Message& message, int passed_fd) {
  int unread = 0;
  const bool hint = message.type == MessageType::kWake || message.type == MessageType::kProgress;
  if (hint && ::ioctl(fd, SIOCOUTQ, &unread) == 0 && unread > kMaxUnread) return false;
  std::string bytes = encode(message);
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (passed_fd >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &passed_fd, sizeof passed_fd);
  }
  while (::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return false;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return gone();
    return base::from_errno(errno, "sending to the other end of the feed");
  }
  return true;
}

base::Result<std::optional<Received>> receive_message(int fd) {
  std::array<char, kMaxMessageBytes + 1> bytes{};
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::optional<Received>();
  if (got < 0 && errno != ECONNRESET) return base::from_errno(errno, "reading from the feed");
  if (got <= 0) return gone();
  base::UniqueFd passed = passed_with(header);
  GANGRUN_ASSIGN(Message message,
                 decode(std::string_view(bytes.data(), static_cast<std::size_t>(got))));
  return std::optional(Received{.message = std::move(message), .fd = std::move(passed)});
}

}  // namespace gangrun::feed
