#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"
#include "kubernetes/api_url.h"
#include "kubernetes/client.h"

// The state of a watch: takes pages of listings and the bytes of watches, no socket.
namespace gangrun::kubernetes {

inline constexpr std::size_t kMaxEventBytes = std::size_t{16} * 1024 * 1024;
// The size of all pages of a list together.
inline constexpr std::size_t kMaxListBytes = std::size_t{256} * 1024 * 1024;
// Likewise: ten thousand pods have three to four million.
inline constexpr std::size_t kMaxListValues = 8'000'000;
inline constexpr int kShortestWatchSeconds = 300;
inline constexpr int kLongestWatchSeconds = 600;

// A JSON text of the server without the "metadata.managedFields" of its objects, which nobody here
// reads and which are half of them. `depth`: how deep metadata lies, 1 for an object, 2 for a
// change, 3 for a list.
base::Result<base::JsonRead> parse_objects(std::string_view text, int depth, std::size_t max_bytes,
                                           std::size_t max_values);

class WatchEngine {
 public:
  explicit WatchEngine(WatchRequest request) : request_(std::move(request)) {}

  // Whether a page is the next request; else a watch.
  [[nodiscard]] bool lists() const { return version_.empty(); }
  // The query of the next request; `dice`, from 0 to 1, spreads the ends of the watches.
  [[nodiscard]] Query query(double dice) const;

  // A page: all objects when it was the last one. An error: it is none.
  base::Result<std::optional<std::vector<base::Json>>> take_page(std::string_view body);

  // More of a watch. An error: this watch is over; see lists() for what is next. What came before
  // in the same piece is in `changes`.
  base::Result<> put(std::string_view piece, std::vector<Change>& changes);
  // A watch is over, however it ended, and the next one may begin.
  void end_watch();

  // The server refused a page or a watch. True: because what we know is too old; it begins again.
  bool refused(const Refusal& refusal);

 private:
  base::Result<> take_line(std::string_view line, std::vector<Change>& changes);
  base::Result<> take_event(base::Json event, std::vector<Change>& changes);
  base::Result<> take_error(const base::Json& status);
  void list_again();

  const WatchRequest request_;
  std::string version_;   // where to watch from; empty: to be listed first
  std::string continue_;  // of the next page
  std::vector<base::Json> listed_;
  int pages_ = 0;
  std::size_t listed_bytes_ = 0;
  std::size_t listed_values_ = 0;
  bool pages_expire_ = false;  // pages were too old before they were all read: one page, then
  std::string line_;           // the beginning of one
};

}  // namespace gangrun::kubernetes
