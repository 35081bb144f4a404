#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// The kernel's word on one TCP socket (sock_diag(7)); /proc/net/tcp has a line for each there is.
namespace gangrun::process {

// The user of the socket over IPv4 that has the address `own` and is connected to `other`, in
// microseconds. None where its process has closed it. An error where it is not found, is bound to
// a device, or where the kernel has no such service; it does not tell these apart.
base::Result<std::optional<uid_t>> socket_owner(const sockaddr_in& own, const sockaddr_in& other);

// The bytes of the question, and what is in the bytes of its answer.
std::string owner_question(const sockaddr_in& own, const sockaddr_in& other);
base::Result<std::optional<uid_t>> owner_in_answer(std::string_view answer, const sockaddr_in& own,
                                                   const sockaddr_in& other);

}  // namespace gangrun::process
