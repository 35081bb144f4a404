#include "sasl/keytab.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::sasl {

namespace {

constexpr std::string_view kVersion2("\x05\x02", 2);
constexpr char kFormat = 5;
// In a message; a keytab of a service has one for each host.
constexpr std::size_t kShownPrincipals = 5;

base::Error cut_off() { return base::Error{base::Code::kDataLoss, "the keytab is cut off"}; }

// Big-endian numbers and counted texts from the front of what is left.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  base::Result<std::string_view> take(std::size_t count) {
    if (count > rest_.size()) return cut_off();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  base::Result<std::uint32_t> number(std::size_t bytes) {
    GANGRUN_ASSIGN(const std::string_view taken, take(bytes));
    std::uint32_t value = 0;
    for (const char byte : taken) value = value << 8U | static_cast<unsigned char>(byte);
    return value;
  }

  base::Result<std::string> counted() {
    GANGRUN_ASSIGN(const std::uint32_t size, number(2));
    GANGRUN_ASSIGN(const std::string_view taken, take(size));
    return std::string(taken);
  }

 private:
  std::string_view rest_;
};

// The name at the beginning of an entry; time, number and key follow it.
base::Result<Principal> principal_of(std::string_view entry) {
  Reader reader(entry);
  GANGRUN_ASSIGN(const std::uint32_t count, reader.number(2));
  if (count == 0) return base::invalid_argument("an entry of the keytab has no name");
  Principal principal;
  GANGRUN_ASSIGN(principal.realm, reader.counted());
  // Each takes two bytes at least, so the entry's end limits the loop.
  for (std::uint32_t i = 0; i < count; ++i) {
    GANGRUN_ASSIGN(std::string component, reader.counted());
    principal.components.push_back(std::move(component));
  }
  return principal;
}

std::string names_of(const std::vector<Principal>& principals) {
  return base::first_and_more(principals, kShownPrincipals,
                              [](const Principal& principal) { return to_string(principal); });
}

base::Error unreadable(const std::string& path, const base::Error& error) {
  const bool is_denied = error.code == base::Code::kPermissionDenied;
  return base::Error{error.code,
                     base::format("the keytab cannot be read: {}{}; try: ls -l {}", error.message,
                                  is_denied ? ", its owner must be who runs this" : "", path)};
}

}  // namespace

base::Result<std::vector<Principal>> parse_keytab(std::string_view bytes) {
  if (!bytes.starts_with(kVersion2)) {
    if (bytes.size() < kVersion2.size()) return cut_off();
    const bool is_other = bytes[0] == kFormat;
    return base::invalid_argument(is_other
                                      ? base::format("the keytab's format is of version {}; 2 is "
                                                     "known",
                                                     static_cast<unsigned char>(bytes[1]))
                                      : "it is not a keytab");
  }
  Reader reader(bytes.substr(kVersion2.size()));
  std::vector<Principal> principals;
  while (!reader.at_end()) {
    GANGRUN_ASSIGN(const std::uint32_t number, reader.number(4));
    const auto size = static_cast<std::int32_t>(number);
    if (size == 0) break;
    // An entry that was removed leaves a hole, whose length is negative.
    GANGRUN_ASSIGN(const std::string_view entry,
                   reader.take(size < 0 ? 0U - number : std::size_t{number}));
    if (size < 0) continue;
    GANGRUN_ASSIGN(Principal principal, principal_of(entry));
    if (std::ranges::find(principals, principal) == principals.end()) {
      principals.push_back(std::move(principal));
    }
  }
  return principals;
}

base::Result<Principal> find_in_keytab(const std::string& path, const std::string& principal) {
  const auto bytes = base::read_file(path, kMaxKeytabBytes);
  if (!bytes.ok()) return unreadable(path, bytes.error());
  GANGRUN_ASSIGN(const std::vector<Principal> all, parse_keytab(*bytes).context(path));
  std::vector<Principal> fitting = all;
  if (!principal.empty()) {
    GANGRUN_ASSIGN(const Principal wanted, parse_principal(principal));
    std::erase_if(fitting, [&wanted](const Principal& one) {
      return one.components != wanted.components ||
             (!wanted.realm.empty() && one.realm != wanted.realm);
    });
  }
  if (fitting.size() == 1) return fitting.front();
  if (all.empty()) return base::invalid_argument(base::format("the keytab {} is empty", path));
  if (fitting.empty()) {
    return base::invalid_argument(
        base::format("the keytab {} has no key of {}, but of {}: klist -kt {} lists them", path,
                     principal, names_of(all), path));
  }
  return base::invalid_argument(base::format(
      "the keytab {} has keys of {}: --principal must say which", path, names_of(fitting)));
}

}  // namespace gangrun::sasl
