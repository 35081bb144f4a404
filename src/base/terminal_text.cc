#include "base/terminal_text.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::base {

namespace {

constexpr std::string_view kEllipsis = "…";
constexpr char32_t kReplacement = 0xFFFD;
constexpr std::size_t kTabWidth = 8;

struct Range {
  char32_t first;
  char32_t last;
};

// The ranges that terminals agree on (Unicode 15, East Asian Width "W" and "F", and pictures).
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2329, 0x232A},
    Range{0x23E9, 0x23EC},   Range{0x25FD, 0x25FE},   Range{0x2614, 0x2615},
    Range{0x2648, 0x2653},   Range{0x26A1, 0x26A1},   Range{0x26BD, 0x26BE},
    Range{0x2705, 0x2705},   Range{0x270A, 0x270B},   Range{0x2728, 0x2728},
    Range{0x274C, 0x274C},   Range{0x2753, 0x2755},   Range{0x2795, 0x2797},
    Range{0x2B1B, 0x2B1C},   Range{0x2B50, 0x2B50},   Range{0x2E80, 0x303E},
    Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},
    Range{0xA000, 0xA4CF},   Range{0xA960, 0xA97C},   Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
    Range{0xFFE0, 0xFFE6},   Range{0x16FE0, 0x18CFF}, Range{0x1B000, 0x1B2FF},
    Range{0x1F004, 0x1F004}, Range{0x1F0CF, 0x1F0CF}, Range{0x1F18E, 0x1F18E},
    Range{0x1F191, 0x1F19A}, Range{0x1F200, 0x1F320}, Range{0x1F32D, 0x1F335},
    Range{0x1F337, 0x1F37C}, Range{0x1F37E, 0x1F393}, Range{0x1F3A0, 0x1F3CA},
    Range{0x1F3E0, 0x1F3F0}, Range{0x1F400, 0x1F4FC}, Range{0x1F4FF, 0x1F53D},
    Range{0x1F54B, 0x1F567}, Range{0x1F5FB, 0x1F64F}, Range{0x1F680, 0x1F6C5},
    Range{0x1F6CC, 0x1F6CC}, Range{0x1F6D0, 0x1F6D7}, Range{0x1F6DC, 0x1F6DF},
    Range{0x1F6EB, 0x1F6FC}, Range{0x1F7E0, 0x1F7F0}, Range{0x1F90C, 0x1F9FF},
    Range{0x1FA70, 0x1FAFF}, Range{0x20000, 0x3FFFD},
};
constexpr std::array kNarrowless = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489},   Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0900, 0x0902},   Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
    Range{0x200B, 0x200D}, Range{0x20D0, 0x20FF},   Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
    Range{0xFEFF, 0xFEFF}, Range{0xE0100, 0xE01EF},
};

template <typename Ranges>
bool is_in(const Ranges& ranges, char32_t code_point) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

std::size_t width_of(char32_t code_point) {
  if (code_point < 0x300) return 1;
  if (is_in(kNarrowless, code_point)) return 0;
  return is_in(kWide, code_point) ? 2 : 1;
}

struct Decoded {
  char32_t code_point = kReplacement;
  std::size_t length = 1;
};

// The character at the front of `text`, which is not empty.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t code_point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest.at(length) || code_point > 0x10FFFF || surrogate) return {};
  return {code_point, length};
}

// The end of a sequence whose parameters and intermediate bytes, up to `last`, begin at `from`: its
// final byte is a part of it.
std::size_t end_of_sequence(std::string_view text, std::size_t from, char last) {
  std::size_t end = from;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= last) ++end;
  const bool has_final = end < text.size() && text[end] > last && text[end] < 0x7F;
  return has_final ? end + 1 : end;
}

// Bytes of the escape sequence that `text` begins with (ESC is its first byte).
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') return end_of_sequence(text, 2, 0x3F);
  constexpr std::string_view kStrings = "]P_^X";
  if (kStrings.find(text[1]) != std::string_view::npos) {
    for (std::size_t end = 2; end < text.size(); ++end) {
      if (text[end] == '\a') return end + 1;
      if (text[end] == '\x1b' && end + 1 < text.size() && text[end + 1] == '\\') return end + 2;
    }
    return text.size();
  }
  // Such as "ESC ( B", by which `tput sgr0` chooses a set of characters.
  return end_of_sequence(text, 1, 0x2F);
}

// The text that stays visible of a line that a progress bar writes again and again.
std::string_view after_carriage_return(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t at = text.rfind('\r');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

// All of it but the escape sequences.
std::string shown(std::string_view text, Tabs tabs = Tabs::kAreSpaces) {
  std::string result;
  result.reserve(text.size());
  std::size_t column = 0;
  while (!text.empty()) {
    if (text.front() == '\x1b') {
      text.remove_prefix(escape_length(text));
      continue;
    }
    const Decoded next = decode(text);
    if (next.code_point == '\t' && tabs == Tabs::kAreSpaces) {
      const std::size_t spaces = kTabWidth - column % kTabWidth;
      result.append(spaces, ' ');
      column += spaces;
    } else if (next.code_point == '\t') {
      result += '\t';
    } else if (next.code_point == kReplacement || is_control(text.substr(0, next.length))) {
      result += "\uFFFD";
      ++column;
    } else {
      result += text.substr(0, next.length);
      column += width_of(next.code_point);
    }
    text.remove_prefix(next.length);
  }
  return result;
}

}  // namespace

std::string harmless_output(std::string_view text, Tabs tabs) {
  return shown(after_carriage_return(text), tabs);
}

std::string harmless_sentence(std::string_view text) {
  std::string line(trim(text));
  // Nothing is a line of its own, and nothing takes away what stands before it.
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return shorten(trim(shown(line)), kMaxSentence);
}

std::string their_words(std::string_view text, std::size_t max_bytes) {
  // Text that is thrown away need not be read.
  std::string words = harmless_sentence(text.substr(0, 4 * max_bytes));
  std::replace(words.begin(), words.end(), '"', '\'');
  return format("\"{}\"", shorten(words, max_bytes));
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Decoded next = decode(text);
    width += width_of(next.code_point);
    text.remove_prefix(next.length);
  }
  return width;
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Decoded next = decode(text.substr(end));
    if (used + width_of(next.code_point) > width - 1) break;
    used += width_of(next.code_point);
    end += next.length;
  }
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

}  // namespace gangrun::base
