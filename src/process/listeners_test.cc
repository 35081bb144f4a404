#include "process/listeners.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "process/port_holds.h"
#include "process/test_bind.h"

namespace gangrun::process {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode                                                     \n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
    "31337 1 00000000cf6ebd2f 100 0 0 10 0                     \n"
    "   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 "
    "4711 1 0000000000000000 20 4 30 10 -1                     \n";
constexpr std::string_view kTable6 =
    "   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000     0        0 77 1 0000000000000000 100 0 0 10 0\n";

TEST(Listeners, ReadsTheKernelsTable) {
  const auto sockets = parse_proc_net_tcp(kTable);
  ASSERT_THAT(sockets, SizeIs(2));
  EXPECT_EQ(sockets[0].local_port, 8080);
  EXPECT_TRUE(sockets[0].listening);
  EXPECT_EQ(sockets[0].user, 1000U);
  EXPECT_EQ(sockets[0].inode, 31337U);
  EXPECT_EQ(sockets[1].local_port, 40000);
  EXPECT_EQ(sockets[1].remote_port, 8080);
  EXPECT_FALSE(sockets[1].listening);
  const auto v6 = parse_proc_net_tcp(kTable6);
  ASSERT_THAT(v6, SizeIs(1));
  EXPECT_EQ(v6[0].local_port, 80);
  EXPECT_EQ(v6[0].inode, 77U);
}

TEST(Listeners, AnInodeThatIsCutIsNotReadAsAShorterOne) {
  const std::size_t inode = kTable.find("31337");
  for (std::size_t length = 0; length <= kTable.size(); ++length) {
    const auto sockets = parse_proc_net_tcp(kTable.substr(0, length));
    if (length <= inode + 5) {
      EXPECT_THAT(sockets, IsEmpty()) << length;
    } else {
      ASSERT_GE(sockets.size(), 1U) << length;
      EXPECT_EQ(sockets[0].inode, 31337U);
    }
  }
}

TEST(Listeners, LeavesOutWhatIsNotALineOfTheTable) {
  EXPECT_THAT(parse_proc_net_tcp(""), IsEmpty());
  EXPECT_THAT(parse_proc_net_tcp("\n\n  \nx"), IsEmpty());
  EXPECT_THAT(parse_proc_net_tcp("0: A:1F90F B:0 0A a b c 1 0 7 \n"), IsEmpty());
  EXPECT_THAT(parse_proc_net_tcp("0: 1F90 B:0 0A a b c 1 0 7 \n"), IsEmpty());
}

TEST(Listeners, AHeldPortIsNotListenedOn) {
  const auto hold = PortHold::any("0.0.0.0");
  ASSERT_TRUE(hold.ok());
  const auto listeners = listeners_on(hold->port());
  ASSERT_TRUE(listeners.ok());
  EXPECT_THAT(*listeners, IsEmpty());
}

// One that listens on a port that is held here, until it is told to end.
class Taker {
 public:
  explicit Taker(std::uint16_t port) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const base::UniqueFd server = bind_beside(port, {.reuse_address = true});
      const bool listens = server.valid() && ::listen(server.get(), 8) == 0;
      if (!listens || ::write(ready[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  ~Taker() { end(); }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

TEST(Listeners, WhoListensOnAHeldPortIsFoundAndDescribed) {
  const auto hold = PortHold::any("0.0.0.0");
  ASSERT_TRUE(hold.ok());
  Taker taker(hold->port());
  const auto foreign = foreign_listener(hold->port(), {hold->fd()});
  ASSERT_TRUE(foreign.ok());
  ASSERT_TRUE(foreign->has_value());
  EXPECT_EQ((*foreign)->user, ::getuid());
  const ListenerOwner owner = owner_of(**foreign);
  EXPECT_THAT(owner.words, HasSubstr(fmt::format("process {}", taker.pid())));
  EXPECT_THAT(owner.environment, HasSubstr("PATH="));
  EXPECT_FALSE(owner.is_inside);
  taker.end();
  const auto after = foreign_listener(hold->port(), {hold->fd()});
  ASSERT_TRUE(after.ok());
  EXPECT_FALSE(after->has_value());
}

// A task that listened on the socket it inherited was taken for somebody else once it was dead.
TEST(Listeners, AHeldSocketThatATaskListenedOnIsNotForeign) {
  const auto hold = PortHold::any("0.0.0.0");
  ASSERT_TRUE(hold.ok());
  ASSERT_EQ(::listen(hold->fd(), 8), 0);
  const auto own = foreign_listener(hold->port(), {hold->fd()});
  ASSERT_TRUE(own.ok());
  EXPECT_FALSE(own->has_value());
  const auto without = foreign_listener(hold->port(), {});
  ASSERT_TRUE(without.ok());
  EXPECT_TRUE(without->has_value());
  EXPECT_FALSE(foreign_listener(hold->port(), {-1}).ok());
}

// In a PID namespace nobody knew whose process has the port.
TEST(Listeners, WhoIsSeenOutsideOnlyIsFoundThere) {
  std::string folder = "/tmp/gangrun-proc-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directories(folder + "/4711/fd");
  std::filesystem::create_symlink("socket:[1]", folder + "/4711/fd/3");
  ASSERT_TRUE(base::write_private_file(folder + "/4711/comm", "redis-server\n").ok());
  const base::UniqueFd outer(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(owner_of({.inode = 1, .user = 42}, outer.get()).words,
            "process 4711 (redis-server) of user 42");
  EXPECT_EQ(owner_of({.inode = 2, .user = 42}, outer.get()).words, "a process of user 42");
  std::filesystem::remove_all(folder);
}

// In a user namespace everybody else was "user 65534".
TEST(Listeners, AUserThatTheNamespaceDoesNotKnowHasNoNumber) {
  EXPECT_TRUE(is_known_user(65534, "         0          0 4294967295\n"));
  EXPECT_TRUE(is_known_user(1000, "      1000       1000          1\n"));
  EXPECT_FALSE(is_known_user(65534, "      1000       1000          1\n"));
  EXPECT_TRUE(is_known_user(100, "0 1000 1\n1 100000 65536\n"));
  EXPECT_FALSE(is_known_user(65537, "0 1000 1\n1 100000 65536\n"));
  EXPECT_TRUE(is_known_user(42, ""));
}

TEST(Listeners, AnUnseenListenerIsStillDescribed) {
  EXPECT_EQ(owner_of({.inode = 1, .user = 42}).words, "a process of user 42");
}

// Port 0x1F90 (8080) is ours, 0xC000 and 0xC001 are clients.
const std::string kHeading =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when ...\n";

std::string line(const char* local, const char* remote, const char* state, const char* user,
                 const char* inode) {
  return std::string("   1: ") + local + " " + remote + " " + state +
         " 00000000:00000000 00:00000000 00000000  " + user + "        0 " + inode + " 1 0 20\n";
}

TEST(ConnectionOwner, IsTheUserOfTheClientsSocket) {
  const std::string table = kHeading + line("0100007F:1F90", "00000000:0000", "0A", "7", "11") +
                            line("0100007F:1F90", "0100007F:C000", "01", "7", "12") +
                            line("0100007F:C000", "0100007F:1F90", "01", "1000", "13") +
                            line("0100007F:C001", "0100007F:1F90", "01", "1001", "14");
  EXPECT_EQ(connection_owner_in(table, 0xC000, 0x1F90), 1000U);
  EXPECT_EQ(connection_owner_in(table, 0xC001, 0x1F90), 1001U);
  EXPECT_EQ(connection_owner_in(table, 0xC002, 0x1F90), std::nullopt);
}

// The kernel shows user 0 for a socket that is closed: that must not pass for root.
TEST(ConnectionOwner, OfAClosedSocketIsNobody) {
  const std::string table = kHeading + line("0100007F:C000", "0100007F:1F90", "06", "0", "0");
  EXPECT_EQ(connection_owner_in(table, 0xC000, 0x1F90), std::nullopt);
}

// The same two ports at another address: which of the two is connected to us cannot be told.
TEST(ConnectionOwner, OfAnAmbiguousPairIsNobody) {
  const std::string table = kHeading + line("0100007F:C000", "0100007F:1F90", "01", "1001", "13") +
                            line("0500000A:C000", "0600000A:1F90", "01", "1000", "14");
  EXPECT_EQ(connection_owner_in(table, 0xC000, 0x1F90), std::nullopt);
}

TEST(ConnectionOwner, OfOurOwnConnectionIsThisUser) {
  const base::UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const base::UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(server.get(), generic, size), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ASSERT_EQ(::getsockname(server.get(), generic, &size), 0);
  const std::uint16_t own_port = ntohs(address.sin_port);
  ASSERT_EQ(::connect(client.get(), generic, size), 0);
  ASSERT_EQ(::getsockname(client.get(), generic, &size), 0);
  const auto owner = connection_owner(ntohs(address.sin_port), own_port);
  ASSERT_TRUE(owner.ok()) << owner.error().message;
  EXPECT_EQ(*owner, ::geteuid());
  // The kernel looks up one socket, and does not find the last two.
  for (const char* const host : {"127.0.0.1", "127.0.0.2", "localhost"}) {
    const auto of_host = connection_owner(host, ntohs(address.sin_port), own_port);
    ASSERT_TRUE(of_host.ok()) << of_host.error().message;
    EXPECT_EQ(*of_host, ::geteuid()) << host;
  }
}

}  // namespace
}  // namespace gangrun::process
