#include "process/address_in_use.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/letters.h"

namespace gangrun::process {

namespace {

// In small letters; a line is looked at without regard to case.
constexpr std::string_view kSigns[] = {
    "address already in use",    // strerror(): C, C++, Python, Go, Java, gRPC, PyTorch
    "address in use",            // Rust, BSD
    "eaddrinuse",                // Node.js, libuv, PyTorch's TCPStore
    "[errno 98]",                // Python's, in whatever language strerror() speaks
    "errno: 98",                 // PyTorch's, the same
    "java.net.bindexception",    // Java
    "no address added out of",   // gRPC, where no address of a port can be bound
    "could not start grpc",      // TensorFlow's server
    "port is already in use",    // Werkzeug and its like
    "port is already allocated"  // container engines
};

// "TensorBoard could not bind to port 6006, it was already in use": with a number between.
bool says_port_in_use(std::string_view text) {
  const std::size_t port = text.find("port ");
  return port != std::string_view::npos &&
         text.find("already in use", port) != std::string_view::npos;
}

}  // namespace

bool says_address_in_use(std::string_view line) {
  const std::string text = base::in_small_letters(line);
  return says_port_in_use(text) ||
         std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return text.find(sign) != std::string::npos; });
}

}  // namespace gangrun::process
