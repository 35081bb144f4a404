#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

// Text that comes out of users' processes, on its way into JSON and back: always valid UTF-8, never
// longer than a named limit. Writing shortens, reading refuses: a peer that keeps the limits never
// meets the refusal.
namespace gangrun::job {

inline constexpr std::size_t kMaxSentenceBytes = 4096;
inline constexpr std::size_t kMaxLineBytes = 4096;
inline constexpr std::size_t kMaxTracebackBytes = std::size_t{32} * 1024;

// `text` with bytes that are not UTF-8 replaced, at most `max_bytes` of it.
base::Json json_text(std::string_view text, std::size_t max_bytes);
// The same of any length.
base::Json json_text(std::string_view text);
// The last kLastLines of `lines`, each at most kMaxLineBytes long.
base::Json json_lines(const std::vector<std::string>& lines);

base::Result<std::string> text_member(const base::Json& object, std::string_view key,
                                      std::size_t max_bytes);
// The same; empty where the key is absent.
base::Result<std::string> text_member_or_empty(const base::Json& object, std::string_view key,
                                               std::size_t max_bytes);
// A path has no such promise: it is any bytes.
base::Result<std::string> path_member(const base::Json& object, std::string_view key,
                                      std::size_t max_bytes);
base::Result<std::vector<std::string>> lines_member(const base::Json& object, std::string_view key);

}  // namespace gangrun::job
