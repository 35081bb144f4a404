#pragma once

#include "net/asio_internal.h"
//
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/answer_internal.h"
#include "net/http.h"
#include "net/stream_internal.h"

namespace gangrun::net {

struct ExchangeOptions {
  bool head = false;  // the answer has no body, whatever its header says
  std::uint64_t max_response_bytes = 0;
  // The bytes after the first ones, piece by piece; an empty piece is the end. A piece stays
  // valid until the next call.
  std::function<base::Result<std::string_view>()> more;
  // Gets the body of an answer of success piece by piece, instead of HttpResponse::body.
  std::function<base::Result<>(std::string_view piece)> sink;
};

// One request and its answer on one stream, in a loop of its own.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Stream stream, std::string bytes, ExchangeOptions options);

  void start();
  void close() { stream_.close(); }
  [[nodiscard]] bool done() const { return result_.has_value(); }
  // When bytes went out or came in last.
  [[nodiscard]] base::Instant moved() const { return moved_; }
  base::Result<HttpResponse> take() { return std::move(*result_); }

 private:
  AnswerOptions answer_options();
  void write(std::string_view bytes);
  void on_written(const ErrorCode& error);
  void read();
  void on_read(const ErrorCode& error, std::size_t size);

  Stream stream_;
  const std::string request_;
  const ExchangeOptions options_;
  ErrorCode write_error_;
  std::array<char, std::size_t{64} * 1024> chunk_{};
  AnswerReader reader_;
  base::Instant moved_ = std::chrono::steady_clock::now();
  std::optional<base::Result<HttpResponse>> result_;
};

}  // namespace gangrun::net
