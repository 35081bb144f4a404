#pragma once

// Asio and Beast are compiled once, in boost_source.cc. Every file of this room that includes a
// Boost header includes this one before it; no public header does.
#if defined(BOOST_ASIO_DETAIL_CONFIG_HPP) || defined(BOOST_BEAST_CONFIG_HPP)
#error "net/asio_internal.h must come before the first Boost header"
#endif
#define BOOST_ASIO_SEPARATE_COMPILATION
#define BOOST_BEAST_SEPARATE_COMPILATION
#define BOOST_ASIO_DISABLE_BOOST_COROUTINE

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <string_view>

#include "base/result.h"

namespace gangrun::net {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

// An Error for a failed operation of Asio, TLS or Beast: `what` and the reason.
base::Error to_error(const ErrorCode& error_code, std::string_view what);

}  // namespace gangrun::net
