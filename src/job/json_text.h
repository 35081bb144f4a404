#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"

// Text that comes out of users' processes, on its way into JSON and back: always valid UTF-8, never
// longer than a named limit. Writing shortens, reading refuses: a peer that keeps the limits never
// meets the refusal.
namespace gangrun::job {

inline constexpr std::size_t kMaxSentenceBytes = 4096;
inline constexpr std::size_t kMaxLineBytes = 4096;
// At most so many lines of a failing task's standard error are kept and shown.
inline constexpr int kLastLines = 20;
inline constexpr std::size_t kMaxTracebackBytes = std::size_t{32} * 1024;

// A text that comes out of a user's process or from another host, in a described struct.
struct Told {
  std::size_t max_bytes = 0;

  [[nodiscard]] base::Json write(const std::string& text) const;
  base::Result<> read(const base::Json& json, std::string_view key, std::string& out) const;
  [[nodiscard]] std::string bounds() const { return base::Bytes{max_bytes}.bounds(); }
  template <typename T>
  [[nodiscard]] T sample() const {
    return "a";
  }
};

inline constexpr Told kSentence{kMaxSentenceBytes};

// The last lines of a task's output: of more, the newest.
struct LastLines {
  [[nodiscard]] static base::Json write(const std::vector<std::string>& lines);
  static base::Result<> read(const base::Json& json, std::string_view key,
                             std::vector<std::string>& out);
  [[nodiscard]] static std::string bounds();
  template <typename T>
  [[nodiscard]] T sample() const {
    return {"a"};
  }
};

// `text` with bytes that are not UTF-8 replaced, at most `max_bytes` of it.
base::Json json_text(std::string_view text, std::size_t max_bytes);
// The same of any length.
base::Json json_text(std::string_view text);
// The last kLastLines of `lines`, each at most kMaxLineBytes long.
base::Json json_lines(const std::vector<std::string>& lines);

base::Result<std::string> text_member(const base::Json& object, std::string_view key,
                                      std::size_t max_bytes);

}  // namespace gangrun::job
