#include "net/asio_internal.h"
//
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/format.h"
#include "net/answer_internal.h"

namespace gangrun::net {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{32} * 1024;
// The most bytes that are not understood yet: a header, or the line before a chunk.
constexpr std::size_t kMaxRestBytes = 2 * kMaxHeaderBytes;

base::Error not_understood(std::string_view why, bool is_too_large) {
  return {is_too_large ? base::Code::kResourceExhausted : base::Code::kInvalidArgument,
          base::format("the answer is not understood: {}", why)};
}

}  // namespace

class AnswerReader::Parser final : public http::basic_parser<false> {
 public:
  explicit Parser(const AnswerOptions& options) : options_(options) {
    eager(true);
    skip(options.is_head);
    body_limit(boost::none);
    header_limit(kMaxHeaderBytes);
  }

  HttpResponse response{0, {}, {}, {}};
  std::uint64_t limit = 0;  // of its body, in bytes

 private:
  using Text = boost::beast::string_view;

  void on_request_impl(http::verb, Text, Text, int, ErrorCode&) override {}

  void on_response_impl(int status, Text, int, ErrorCode&) override { response.status = status; }

  void on_field_impl(http::field name, Text text, Text value, ErrorCode&) override {
    if (is_header_done()) return;  // a trailer
    if (name == http::field::content_type) response.content_type = value;
    response.headers.add(text, value);
  }

  void on_header_impl(ErrorCode& error) override {
    streams_ = options_.on_piece && response.status / 100 == 2;
    left_ = limit = streams_ ? options_.max_streamed_bytes : options_.max_body_bytes;
    // An answer without a body is done, whatever length it tells.
    if (!is_done() && content_length().value_or(0) > limit) {
      error = http::error::body_limit;
    } else if (streams_) {
      options_.on_begin();
    }
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}

  std::size_t on_body_impl(Text body, ErrorCode& error) override {
    if (body.size() > left_) {
      error = http::error::body_limit;
      return 0;
    }
    left_ -= body.size();
    if (!streams_) {
      response.body.append(body.data(), body.size());
    } else if (!body.empty()) {
      options_.on_piece(body);
    }
    return body.size();
  }

  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}

  std::size_t on_chunk_body_impl(std::uint64_t, Text body, ErrorCode& error) override {
    return on_body_impl(body, error);
  }

  void on_finish_impl(ErrorCode&) override {}

  const AnswerOptions& options_;
  bool streams_ = false;
  std::uint64_t left_ = 0;  // of the body's limit
};

AnswerReader::AnswerReader(AnswerOptions options)
    : options_(std::move(options)), parser_(std::make_unique<Parser>(options_)) {}

AnswerReader::~AnswerReader() = default;

base::Result<bool> AnswerReader::put(std::string_view bytes) {
  const bool has_rest = !rest_.empty();
  if (has_rest) rest_.append(bytes);
  std::string_view left = has_rest ? std::string_view(rest_) : bytes;
  ErrorCode error;
  while (!left.empty() && !parser_->is_done() && error != http::error::need_more) {
    left.remove_prefix(parser_->put(asio::buffer(left.data(), left.size()), error));
    if (error && error != http::error::need_more) {
      if (error == http::error::body_limit) {
        return base::Error{base::Code::kResourceExhausted,
                           base::format("the answer has more than {} bytes", parser_->limit)};
      }
      return not_understood(error.message(), error == http::error::header_limit);
    }
    const int status = parser_->response.status;
    const bool is_interim = status / 100 == 1 && status != 101;
    if (parser_->is_done() && is_interim) parser_ = std::make_unique<Parser>(options_);
  }
  if (parser_->is_done()) return true;
  if (left.size() > kMaxRestBytes) return not_understood("a line is too long", true);
  if (has_rest) {
    rest_.erase(0, rest_.size() - left.size());
  } else {
    rest_.assign(left);
  }
  return false;
}

bool AnswerReader::put_end() {
  if (!parser_->is_header_done()) return false;
  ErrorCode error;
  parser_->put_eof(error);
  return !error;
}

HttpResponse AnswerReader::take() { return std::move(parser_->response); }

}  // namespace gangrun::net
