#include "net/exchange_internal.h"
//
#include <boost/asio/write.hpp>

namespace gangrun::net {

Exchange::Exchange(Stream stream, std::string bytes, ExchangeOptions options)
    : stream_(std::move(stream)),
      request_(std::move(bytes)),
      options_(std::move(options)),
      reader_(answer_options()) {}

AnswerOptions Exchange::answer_options() {
  AnswerOptions answer{options_.head, options_.max_response_bytes, {}, {}};
  if (!options_.sink) return answer;
  answer.max_streamed_bytes = options_.max_response_bytes;
  answer.on_begin = [] {};
  answer.on_piece = [this](std::string_view piece) {
    if (done()) return;
    auto taken = options_.sink(piece);
    moved_ = std::chrono::steady_clock::now();  // the server is not to blame for a slow sink
    if (!taken.ok()) result_ = std::move(taken).error();
  };
  return answer;
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

void Exchange::on_read(const ErrorCode& error, std::size_t size) {
  if (done()) return;  // what was to be sent could not be read
  moved_ = std::chrono::steady_clock::now();
  if (error) {
    // The end of the connection ends a body of unknown length.
    if (reader_.put_end()) {
      result_ = reader_.take();
    } else {
      result_ = to_error(write_error_ ? write_error_ : error, "waiting for the answer");
    }
    return;
  }
  auto complete = reader_.put({chunk_.data(), size});
  if (done()) return;  // nobody wants more
  if (!complete.ok()) {
    result_ = std::move(complete).error();
  } else if (*complete) {
    result_ = reader_.take();
  } else {
    read();
  }
}

}  // namespace gangrun::net
