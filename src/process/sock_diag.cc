#include "process/sock_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/unique_fd.h"

namespace gangrun::process {

namespace {

struct Question {
  nlmsghdr header;
  inet_diag_req_v2 socket;
};
static_assert(sizeof(Question) == NLMSG_LENGTH(sizeof(inet_diag_req_v2)));

// The kernel's answer has about 100 bytes.
constexpr std::size_t kMaxAnswer = 4096;

base::Error unclear() {
  return {base::Code::kDataLoss, "the kernel's answer about a socket is not understood"};
}

// The structure that the bytes begin with.
template <typename Structure>
std::optional<Structure> front(std::string_view bytes) {
  Structure structure{};
  if (bytes.size() < sizeof structure) return std::nullopt;
  std::memcpy(&structure, bytes.data(), sizeof structure);
  return structure;
}

// A socket of IPv6 that speaks IPv4 is found too, and has ::ffff:127.0.0.1 for 127.0.0.1.
bool is_address(const std::uint32_t (&words)[4], int family, const in_addr& address) {
  if (family == AF_INET) return words[0] == address.s_addr;
  return words[0] == 0 && words[1] == 0 && words[2] == htonl(0xFFFF) && words[3] == address.s_addr;
}

// The kernel answers with one that listens on the port where none is connected.
bool is_between(const inet_diag_msg& socket, const sockaddr_in& own, const sockaddr_in& other) {
  return socket.id.idiag_sport == own.sin_port && socket.id.idiag_dport == other.sin_port &&
         is_address(socket.id.idiag_src, socket.idiag_family, own.sin_addr) &&
         is_address(socket.id.idiag_dst, socket.idiag_family, other.sin_addr);
}

}  // namespace

std::string owner_question(const sockaddr_in& own, const sockaddr_in& other) {
  Question question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.socket.sdiag_family = AF_INET;
  question.socket.sdiag_protocol = IPPROTO_TCP;
  question.socket.idiag_states = ~0U;
  inet_diag_sockid& id = question.socket.id;
  id.idiag_sport = own.sin_port;
  id.idiag_dport = other.sin_port;
  id.idiag_src[0] = own.sin_addr.s_addr;
  id.idiag_dst[0] = other.sin_addr.s_addr;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  std::string bytes(sizeof question, '\0');
  std::memcpy(bytes.data(), &question, sizeof question);
  return bytes;
}

base::Result<std::optional<uid_t>> owner_in_answer(std::string_view answer, const sockaddr_in& own,
                                                   const sockaddr_in& other) {
  const auto header = front<nlmsghdr>(answer);
  if (!header || header->nlmsg_len < sizeof *header || header->nlmsg_len > answer.size()) {
    return unclear();
  }
  const std::string_view body = answer.substr(sizeof *header, header->nlmsg_len - sizeof *header);
  if (header->nlmsg_type == NLMSG_ERROR) {
    const auto error = front<nlmsgerr>(body);
    if (!error || error->error >= 0) return unclear();
    return base::from_errno(-error->error, "sock_diag");
  }
  const auto socket = front<inet_diag_msg>(body);
  if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || !socket) return unclear();
  if (!is_between(*socket, own, other)) return base::not_found("there is no such connection");
  // One that only tries to connect has the address of a connection that may be somebody else's. One
  // that is closed can have any user, also root.
  const bool is_connected =
      socket->idiag_state != TCP_SYN_SENT && socket->idiag_state != TCP_SYN_RECV;
  if (!is_connected || socket->idiag_inode == 0) return std::optional<uid_t>();
  return std::optional<uid_t>(socket->idiag_uid);
}

base::Result<std::optional<uid_t>> socket_owner(const sockaddr_in& own, const sockaddr_in& other) {
  const base::UniqueFd fd(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  // Connected to the kernel, it receives from nobody else.
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const std::string question = owner_question(own, other);
  if (!fd.valid() ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) != 0 ||
      ::send(fd.get(), question.data(), question.size(), 0) < 0) {
    return base::from_errno(errno, "sock_diag");
  }
  // The kernel has answered when send() returns: there is nothing to wait for.
  std::array<char, kMaxAnswer> answer{};
  const ssize_t size = ::recv(fd.get(), answer.data(), answer.size(), 0);
  if (size < 0) return base::from_errno(errno, "sock_diag");
  return owner_in_answer({answer.data(), static_cast<std::size_t>(size)}, own, other);
}

}  // namespace gangrun::process
