#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "feed/message.h"

namespace gangrun::feed {

// Unix sockets of the abstract namespace, which leave no file; messages stay apart, and descriptors
// travel with them. No call here waits, but for connect_to().

// kAlreadyExists: somebody listens there.
base::Result<base::UniqueFd> listen_at(const std::string& name);
// None: nobody has come.
base::Result<std::optional<base::UniqueFd>> accept_at(int listening);
// kNotFound at once where nobody listens; kDeadlineExceeded where a listener does not accept.
base::Result<base::UniqueFd> connect_to(const std::string& name, base::Duration timeout);

// kPermissionDenied unless the other end is of the same user, or root's. Gives a descriptor that
// becomes readable when that process ends; none where the kernel cannot.
base::Result<base::UniqueFd> check_peer(int fd);

// False when the peer reads so little that there is no room for more.
base::Result<bool> send_message(int fd, const Message& message, int passed_fd = -1);

struct Received {
  Message message;
  base::UniqueFd fd;
};
// None: nothing is there. kUnavailable: the other end is gone; else as decode().
base::Result<std::optional<Received>> receive_message(int fd);

}  // namespace gangrun::feed
