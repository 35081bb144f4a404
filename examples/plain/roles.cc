// A ps that adds up what the workers send, and the workers that send it: a program that was made
// for ytf-submit.
#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kLimitS = 60;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    std::cerr << name << " is not set\n";
    std::exit(2);
  }
  return value;
}

// "10.0.0.1:2000,10.0.0.2:2000"
std::vector<sockaddr_in> addresses(const std::string& list) {
  std::vector<sockaddr_in> found;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t colon = part.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(part.substr(colon + 1))));
    inet_pton(AF_INET, part.substr(0, colon).c_str(), &address.sin_addr);
    found.push_back(address);
  }
  return found;
}

int fail(const char* what) {
  std::perror(what);
  return 1;
}

// Listens on the socket that holds the port already: descriptor 3, as systemd passes sockets.
// Every worker is told the sum when all have sent.
int serve(std::size_t workers) {
  constexpr int kListener = 3;
  if (listen(kListener, 16) != 0) return fail("listen");
  std::vector<int> connections;
  int sum = 0;
  while (connections.size() < workers) {
    pollfd ready{kListener, POLLIN, 0};
    if (poll(&ready, 1, kLimitS * 1000) != 1) return fail("poll");
    connections.push_back(accept(kListener, nullptr, nullptr));
    int number = 0;
    if (read(connections.back(), &number, sizeof number) != sizeof number) return fail("read");
    sum += number;
  }
  std::cout << "sum of " << workers << " workers " << sum << '\n' << std::flush;
  for (const int connection : connections) {
    if (write(connection, &sum, sizeof sum) != sizeof sum) return fail("write");
  }
  pause();  // a ps serves until it is stopped when the workers have ended
  return 0;
}

// -1: nobody has listened there for so long.
int connect_to(const sockaddr_in& ps) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(kLimitS);
  while (std::chrono::steady_clock::now() < limit) {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, reinterpret_cast<const sockaddr*>(&ps), sizeof ps) == 0) {
      const timeval wait{kLimitS, 0};
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
      return connection;
    }
    close(connection);
    if (errno != ECONNREFUSED) return -1;
    sched_yield();  // it does not listen yet
  }
  return -1;
}

int work(int index, const sockaddr_in& ps) {
  const int connection = connect_to(ps);
  if (connection < 0) return fail("connect");
  const int number = 1 << index;
  int sum = 0;
  if (write(connection, &number, sizeof number) != sizeof number) return fail("write");
  if (read(connection, &sum, sizeof sum) != sizeof sum) return fail("read");
  std::cout << "worker " << index << " has sent " << number << " of " << sum << '\n' << std::flush;
  return 0;
}

}  // namespace

int main() {
  const std::vector<sockaddr_in> ps = addresses(variable("DTF_PS_HOSTS"));
  const std::vector<sockaddr_in> workers = addresses(variable("DTF_WORKER_HOSTS"));
  const int index = std::stoi(variable("DTF_TASK_INDEX"));
  return variable("DTF_TASK_JOB_NAME") == "ps" ? serve(workers.size()) : work(index, ps.front());
}
