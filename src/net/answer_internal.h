#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace gangrun::net {

struct AnswerOptions {
  bool is_head = false;  // the answer has no body, whatever its header says
  std::uint64_t max_body_bytes = 0;
  // If both are set, an answer of success (2xx) gives its body piece by piece.
  std::function<void()> on_begin;
  std::function<void(std::string_view piece)> on_piece;
  std::uint64_t max_streamed_bytes = std::numeric_limits<std::uint64_t>::max();  // of such a body
};

// Reads one answer from its bytes as they come; interim ones (1xx) before it are passed over. Keeps
// what it cannot understand yet: most of the time nothing.
class AnswerReader {
 public:
  explicit AnswerReader(AnswerOptions options);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;
  ~AnswerReader();

  // Whether the answer is complete; what follows it is dropped. Not to be called after that, or
  // after an error: kResourceExhausted, too large; kInvalidArgument, not to be understood.
  base::Result<bool> put(std::string_view bytes);
  // The same at the end of the connection, which completes a body of unknown length.
  [[nodiscard]] bool put_end();

  HttpResponse take();

 private:
  class Parser;

  const AnswerOptions options_;
  std::unique_ptr<Parser> parser_;
  std::string rest_;
};

}  // namespace gangrun::net
