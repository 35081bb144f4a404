#include "net/exchange_internal.h"
//
#include <boost/asio/write.hpp>

namespace gangrun::net {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t kMaxResponseHeaderBytes = std::size_t{32} * 1024;

}  // namespace

Exchange::Exchange(Stream stream, std::string bytes, ExchangeOptions options)
    : stream_(std::move(stream)), request_(std::move(bytes)), options_(std::move(options)) {
  expect_answer();
}

void Exchange::expect_answer() {
  parser_.emplace();
  parser_->eager(true);
  parser_->skip(options_.head);
  parser_->body_limit(options_.max_response_bytes);
  parser_->header_limit(kMaxResponseHeaderBytes);
}

void Exchange::start() {
  write(request_);
  read();
}

void Exchange::write(std::string_view bytes) {
  asio::async_write(stream_, asio::buffer(bytes.data(), bytes.size()),
                    [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                      self->on_written(error);
                    });
}

void Exchange::on_written(const ErrorCode& error) {
  // A server may answer before it has read all; the answer says more.
  if (error) write_error_ = error;
  if (error || done() || !options_.more) return;
  moved_ = std::chrono::steady_clock::now();
  auto piece = options_.more();
  if (!piece.ok()) {
    result_ = std::move(piece).error();
  } else if (!piece->empty()) {
    write(*piece);
  }
}

void Exchange::read() {
  stream_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                            self->on_read(error, size);
                          });
}

void Exchange::on_read(ErrorCode error, std::size_t size) {
  if (done()) return;  // what was to be sent could not be read
  moved_ = std::chrono::steady_clock::now();
  in_.append(chunk_.data(), size);
  if (error) {
    // The end of the connection ends a body of unknown length.
    if (parser_->is_header_done()) parser_->put_eof(error);
    if (parser_->is_done() && !error) return finish();
    result_ = to_error(write_error_ ? write_error_ : error, "waiting for the answer");
    return;
  }
  const bool goes_on = parse(error);
  if (error) {
    const bool too_large = error == http::error::body_limit || error == http::error::header_limit;
    result_ = base::Error{too_large ? base::Code::kResourceExhausted : base::Code::kInvalidArgument,
                          "the answer is not understood: " + error.message()};
    return;
  }
  if (!drain()) return;
  if (!goes_on) return finish();
  read();
}

bool Exchange::parse(ErrorCode& error) {
  while (!in_.empty() && !parser_->is_done()) {
    const std::size_t used = parser_->put(asio::buffer(in_), error);
    in_.erase(0, used);
    if (error == http::error::need_more) {
      error = {};
      break;
    }
    if (error || used == 0) break;
    // "100 Continue", which some servers say without being asked: the answer is still to come.
    if (parser_->is_done() && parser_->get().result_int() / 100 == 1) expect_answer();
  }
  return !parser_->is_done();
}

// Hands on what has come of the body. False when nobody wants more.
bool Exchange::drain() {
  if (!options_.sink || !parser_->is_header_done()) return true;
  std::string& body = parser_->get().body();
  if (body.empty() || parser_->get().result_int() / 100 != 2) return true;
  auto taken = options_.sink(body);
  body.clear();
  moved_ = std::chrono::steady_clock::now();  // the server is not to blame for a slow sink
  if (taken.ok()) return true;
  result_ = std::move(taken).error();
  return false;
}

void Exchange::finish() {
  const auto& message = parser_->get();
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  response.content_type.clear();
  for (const auto& field : message) {
    if (field.name() == http::field::content_type) response.content_type = field.value();
    response.headers.add(field.name_string(), field.value());
  }
  response.body = std::move(parser_->get().body());
  result_ = std::move(response);
}

}  // namespace gangrun::net
