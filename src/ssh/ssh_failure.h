#pragma once

#include <string>
#include <string_view>

// The words of OpenSSH's client (7 to 10) on standard error when it fails, as a sentence for the
// user.
namespace gangrun::ssh {

// Names the host as the user does, and where one helps, a command. `how`: how ssh ended, for what
// is not known ("ssh exited with status 255").
std::string failure_sentence(const std::string& host, std::string_view standard_error,
                             std::string_view how);

// The same where it was not ssh that ended: nothing of `said` is taken for its words.
std::string others_sentence(const std::string& host, std::string_view said, std::string_view how);

// The words of a login that does not come to its commands: all that is known of its output, and its
// last line on standard error, where ssh itself writes, too. Empty: nothing.
std::string login_words(std::string_view output, std::string_view standard_error);

// The option in a message like "command-line: line 0: Bad configuration option: stdinnull", which
// was given to this ssh, and which it does not know. Empty: the message names none.
std::string unknown_option(std::string_view standard_error);

// Whether the same command may succeed a little later: the host or the network is busy, or down
// for now.
[[nodiscard]] bool may_pass(std::string_view standard_error);

}  // namespace gangrun::ssh
