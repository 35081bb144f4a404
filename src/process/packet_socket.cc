#include "process/packet_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace gangrun::process {

namespace {

constexpr std::size_t kControlBytes =
    CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMaxPacketFds * sizeof(int));

// The data beside the text: the process that the message is about, and descriptors.
class Control {
 public:
  explicit Control(msghdr& message) {
    message.msg_control = bytes_;
    message.msg_controllen = sizeof bytes_;
  }
  void add(msghdr& message, int type, const void* data, std::size_t size) {
    cmsghdr* const header = reinterpret_cast<cmsghdr*>(bytes_ + used_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), data, size);
    used_ += CMSG_SPACE(size);
    message.msg_controllen = used_;
  }

 private:
  alignas(cmsghdr) char bytes_[kControlBytes] = {};
  std::size_t used_ = 0;
};

// The number of the error; 0: it is sent.
int try_send(int fd, const Packet& packet) {
  iovec text{const_cast<char*>(packet.text.data()), packet.text.size()};  // NOLINT: it is only read
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Control control(message);
  const ucred about{
      .pid = packet.pid != 0 ? packet.pid : ::getpid(), .uid = ::getuid(), .gid = ::getgid()};
  control.add(message, SCM_CREDENTIALS, &about, sizeof about);
  std::vector<int> numbers;
  for (const base::UniqueFd& each : packet.fds) numbers.push_back(each.get());
  if (!numbers.empty()) {
    control.add(message, SCM_RIGHTS, numbers.data(), numbers.size() * sizeof(int));
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0 ? 0 : errno;
}

bool is_of_peer(int error) {
  return error == EPIPE || error == ECONNRESET || error == ENOTCONN || error == ECONNREFUSED;
}

// The last one: too many descriptors are on their way, of which some arrive.
bool passes(int error) { return error == ENOBUFS || error == ENOMEM || error == ETOOMANYREFS; }

// In the memory of this process.
std::size_t size_of(const Packet& packet) {
  return sizeof packet + packet.text.size() + packet.fds.size() * sizeof(base::UniqueFd);
}

// Owns the descriptors as soon as they are here.
void read_control(msghdr& message, Packet& packet) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred about{};
      std::memcpy(&about, CMSG_DATA(header), sizeof about);
      packet.pid = about.pid;
    } else if (header->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
        packet.fds.emplace_back(fd);
      }
    }
  }
}

// The address of a path, whose folder stays open while it is used: one that is too long for the
// kernel leads through that.
struct PathAddress {
  base::UniqueFd folder;
  sockaddr_un address{};

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

base::Result<PathAddress> address_of(const std::string& path) {
  PathAddress made;
  made.address.sun_family = AF_UNIX;
  std::string text = path;
  if (path.size() >= sizeof made.address.sun_path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return base::invalid_argument("the name is too long: " + path);
    made.folder.reset(::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.folder.valid()) return base::from_errno(errno, path);
    text = fmt::format("/proc/self/fd/{}{}", made.folder.get(), path.substr(slash));
    if (text.size() >= sizeof made.address.sun_path) {
      return base::invalid_argument("the name is too long: " + path);
    }
  }
  text.copy(made.address.sun_path, text.size());
  return made;
}

base::UniqueFd make_socket() {
  return base::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// A call that a signal interrupts is made again.
template <typename Call>
ssize_t received(Call call) {
  ssize_t got = -1;
  do {
    got = call();
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

base::Result<base::UniqueFd> PacketSocket::listen(const std::string& path, int most_waiting) {
  GANGRUN_ASSIGN(const PathAddress place, address_of(path));
  (void)::unlink(path.c_str());
  base::UniqueFd fd = make_socket();
  // The mode of the descriptor becomes that of the file.
  if (!fd.valid() || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(fd.get(), place.get(), sizeof place.address) != 0 ||
      ::listen(fd.get(), most_waiting) != 0) {
    return base::from_errno(errno, path);
  }
  return fd;
}

base::Result<base::UniqueFd> PacketSocket::connect(const std::string& path) {
  GANGRUN_ASSIGN(const PathAddress place, address_of(path));
  base::UniqueFd fd = make_socket();
  if (!fd.valid() || ::connect(fd.get(), place.get(), sizeof place.address) != 0) {
    return base::from_errno(errno, fmt::format("connect to {}", path));
  }
  return fd;
}

PacketSocket::PacketSocket(base::UniqueFd fd) : fd_(std::move(fd)) {
  const int wanted = 1;
  // Without it no packet names a process, and who reads them says so.
  (void)::setsockopt(fd_.get(), SOL_SOCKET, SO_PASSCRED, &wanted, sizeof wanted);
}

base::Result<std::pair<base::UniqueFd, base::UniqueFd>> PacketSocket::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return base::from_errno(errno, "socketpair");
  }
  return std::pair(base::UniqueFd(ends[0]), base::UniqueFd(ends[1]));
}

base::Result<> PacketSocket::send(Packet packet) {
  if (packet.text.empty() || packet.text.size() > kMaxPacketBytes ||
      packet.fds.size() > kMaxPacketFds) {
    return base::invalid_argument(
        fmt::format("a message of {} bytes and {} descriptors; allowed: 1 to {} and 0 to {}",
                    packet.text.size(), packet.fds.size(), kMaxPacketBytes, kMaxPacketFds));
  }
  if (waiting_bytes_ + size_of(packet) > kMaxWaitingBytes) {
    return base::Error{base::Code::kResourceExhausted,
                       fmt::format("{} messages wait already for the other process to read them",
                                   waiting_.size())};
  }
  waiting_bytes_ += size_of(packet);
  waiting_.push_back(std::move(packet));
  return flush();
}

base::Result<> PacketSocket::flush() {
  waits_for_ = Waiting::kNothing;
  while (!waiting_.empty()) {
    const int error = try_send(fd_.get(), waiting_.front());
    if (error == EAGAIN || passes(error)) {
      waits_for_ = error == EAGAIN ? Waiting::kUntilWritable : Waiting::kForAMoment;
      return {};
    }
    if (error != 0 && !is_of_peer(error)) return base::from_errno(error, "send a message");
    waiting_bytes_ -= size_of(waiting_.front());
    waiting_.pop_front();
  }
  return {};
}

base::Result<std::optional<Packet>> PacketSocket::receive() {
  Packet packet;
  // Its length first: room for the longest one would be copied with each agent that is forked.
  const ssize_t length =
      received([&] { return ::recv(fd_.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT); });
  if (length < 0 && errno == EAGAIN) return std::optional<Packet>();
  if (length <= 0) return base::unavailable("the other end of the connection is gone");
  if (static_cast<std::size_t>(length) > kMaxPacketBytes) {
    return base::unavailable("a message was longer than the limit");
  }
  packet.text.resize(static_cast<std::size_t>(length));
  iovec text{packet.text.data(), packet.text.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  const Control control(message);
  const ssize_t got =
      received([&] { return ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
  if (got != length) return base::unavailable("the other end of the connection is gone");
  read_control(message, packet);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return base::unavailable("a message came without all of its descriptors");
  }
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return base::unavailable("a message was longer than the limit");
  }
  return std::optional(std::move(packet));
}

}  // namespace gangrun::process
