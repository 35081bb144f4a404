#include "process/address_in_use.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::process {

namespace {

// In small letters; case makes no difference in a line.
constexpr std::string_view kSigns[] = {
    "address already in use",    // strerror(): C, C++, Python, Go, Java, gRPC, PyTorch
    "address in use",            // Rust, BSD
    "connection in use",         // gunicorn
    "eaddrinuse",                // Node.js, libuv, PyTorch's TCPStore
    "[errno 98]",                // Python's, in whatever language strerror() speaks
    "errno: 98",                 // PyTorch's, the same
    "java.net.bindexception",    // Java
    "no address added out of",   // gRPC, where no address of a port can be bound
    "could not start grpc",      // TensorFlow's server
    "port is already in use",    // Werkzeug and its like
    "port is already allocated"  // container engines
};
// Words of a line of code that wants a port.
constexpr std::string_view kCalls[] = {"bind", "listen", "serve"};
constexpr std::size_t kMaxPortDigits = 5;
constexpr std::int64_t kMaxPort = 65535;
// A number below is hardly a port of a training; it is a line's or a queue's.
constexpr std::uint16_t kLeastPortInCode = 1024;

// "Port 8080 is in use", "port 6006, it was already in use": with a number between.
bool says_port_in_use(std::string_view text) {
  constexpr std::string_view kWord = "port ";
  const std::size_t port = text.find(kWord);
  if (port == std::string_view::npos) return false;
  const std::string_view after = text.substr(port + kWord.size());
  return after.find("already in use") != std::string_view::npos ||
         (!after.empty() && base::is_digit(after.front()) &&
          after.find(" in use") != std::string_view::npos);
}

template <typename Signs>
bool has_any(std::string_view text, const Signs& signs) {
  return std::any_of(std::begin(signs), std::end(signs), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

// The text between the word and its number: "port 80", "port: 80", "--port=80", "port='80'".
bool follows_word_port(std::string_view before) {
  const std::size_t end = before.find_last_not_of(" =:'\"(");
  return end != std::string_view::npos && end + 1 < before.size() &&
         before.substr(0, end + 1).ends_with("port");
}

// "[::]:80", "localhost:80", but not the seconds of "12:30:59".
bool follows_host(std::string_view before) {
  if (!before.ends_with(':')) return false;
  before.remove_suffix(1);
  std::size_t digits = before.size();
  while (digits > 0 && base::is_digit(before[digits - 1])) --digits;
  const bool is_time = digits < before.size() && (digits == 0 || before[digits - 1] != '.');
  return !before.empty() && !is_time;
}

// Python's pair: "('127.0.0.1', 80)".
bool follows_host_of_pair(std::string_view before) {
  if (!before.ends_with("', ") && !before.ends_with("\", ")) return false;
  const char quote = before[before.size() - 3];
  const std::size_t host = before.substr(0, before.size() - 3).rfind(quote);
  return host != std::string_view::npos && before.substr(0, host).ends_with('(');
}

void add_once(std::uint16_t port, std::vector<std::uint16_t>& found) {
  if (std::find(found.begin(), found.end(), port) == found.end()) found.push_back(port);
}

// Whole numbers with no letter, digit or fraction beside them, as `is_wanted` finds them.
template <typename IsWanted>
void add_ports(std::string_view text, std::vector<std::uint16_t>& found, IsWanted is_wanted) {
  std::size_t at = 0;
  while ((at = text.find_first_of("0123456789", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const std::string_view before = text.substr(0, at);
    const std::string_view digits = text.substr(at, end - at);
    at = end;
    const bool is_part =
        (!before.empty() && (base::is_letter(before.back()) || before.back() == '_' ||
                             before.back() == '.' || before.back() == '-')) ||
        (end < text.size() && (base::is_letter(text[end]) || text[end] == '_')) ||
        (end + 1 < text.size() && text[end] == '.' && base::is_digit(text[end + 1]));
    if (is_part || digits.size() > kMaxPortDigits) continue;
    const auto number = base::parse_integer(digits);
    if (!number || *number < 1 || *number > kMaxPort) continue;
    const auto port = static_cast<std::uint16_t>(*number);
    if (is_wanted(before, port)) add_once(port, found);
  }
}

}  // namespace

bool says_address_in_use(std::string_view line) {
  const std::string text = base::in_small_letters(line);
  return says_port_in_use(text) || has_any(text, kSigns);
}

std::vector<std::uint16_t> named_ports(std::string_view text) {
  std::vector<std::uint16_t> found;
  add_ports(base::in_small_letters(text), found, [](std::string_view before, std::uint16_t) {
    return follows_word_port(before) || follows_host(before) || follows_host_of_pair(before);
  });
  return found;
}

std::vector<std::uint16_t> ports_in_code(std::string_view text) {
  std::vector<std::uint16_t> found;
  for (const std::string& line : base::split(base::in_small_letters(text), '\n')) {
    const bool is_call = has_any(line, kCalls);
    add_ports(line, found, [&](std::string_view before, std::uint16_t port) {
      if (follows_word_port(before)) return true;
      return is_call && port >= kLeastPortInCode && !before.ends_with("line ");
    });
  }
  return found;
}

std::vector<std::uint16_t> ports_in_command(const std::vector<std::string>& words) {
  const std::string text = base::format("{}", base::join(words, " "));
  std::vector<std::uint16_t> found = named_ports(text);
  for (const std::uint16_t port : ports_in_code(text)) add_once(port, found);
  for (const std::string& word : base::split(text, ' ')) {
    const auto number = base::parse_integer(word);
    if (number && *number >= kLeastPortInCode && *number <= kMaxPort) {
      add_once(static_cast<std::uint16_t>(*number), found);
    }
  }
  return found;
}

}  // namespace gangrun::process
