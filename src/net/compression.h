#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace gangrun::net {

// Takes bytes in their order; an error ends what hands them on, and is passed on.
using ByteSink = std::function<base::Result<>(std::string_view piece)>;

// One that adds all to `out`, which outlives it.
ByteSink append_to(std::string& out);

struct ZlibState;

// Unpacks bytes that zlib or gzip has compressed (RFC 1950, 1952), piece by piece.
class Inflater {
 public:
  Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  // Unpacks the next bytes to `sink`. kInvalidArgument where they were not packed so, or where
  // something follows the end.
  base::Result<> put(std::string_view compressed, const ByteSink& sink);
  // Whether the end has been seen: without it something is missing.
  [[nodiscard]] bool done() const { return done_; }

 private:
  base::Result<> run(const ByteSink& sink);

  std::unique_ptr<ZlibState> state_;
  bool done_ = false;
};

// Compresses to gzip's format, with nothing in it of when and where: equal bytes become equal ones.
class Gzip {
 public:
  explicit Gzip(ByteSink sink);
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip();

  base::Result<> put(std::string_view bytes);
  // Writes what is left. Nothing may be put afterwards.
  base::Result<> finish();

 private:
  base::Result<> run(int flush);

  std::unique_ptr<ZlibState> state_;
  ByteSink sink_;
};

}  // namespace gangrun::net
