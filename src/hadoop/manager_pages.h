#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/configuration.h"
#include "hadoop/web_login.h"

// The web servers of ResourceManagers: they tell the release, and have the pages of applications.
namespace gangrun::hadoop {

// The longest wait for the web server of a ResourceManager: it may be out of reach
// where the rest of a cluster is not.
inline constexpr base::milliseconds kReleaseTimeout(500);

// The oldest release that is spoken to.
inline constexpr int kOldestMajor = 2;
inline constexpr int kOldestMinor = 10;

// A release of Hadoop as its servers name it: "3.3.6", "3.1.1.7.1.7-1" of a distribution.
struct Release {
  int major = 0;
  int minor = 0;
  std::string text;

  [[nodiscard]] bool is_at_least(int wanted_major, int wanted_minor) const {
    return major != wanted_major ? major > wanted_major : minor >= wanted_minor;
  }
};

// None where the text does not begin with two numbers.
std::optional<Release> parse_release(std::string_view text);

// The release of the ResourceManager, which tells it only on the web; none if that does not answer,
// wants a login first, or says something else.
// `login` is how to log in there, where the cluster wants that; null: it does not.
std::optional<Release> find_release(const Configuration& configuration, WebLogin* login,
                                    base::Instant deadline);

// YARN's proxy before the pages of applications: on servers of its own, else in the
// ResourceManagers.
struct WebProxy {
  std::vector<std::string> hosts;
  std::string url;  // of the first one: "http://rm:8088"
};

base::Result<WebProxy> web_proxy(const Configuration& configuration);

}  // namespace gangrun::hadoop
