#pragma once

namespace gangrun::client {

// Whether who sits before standard input agrees to what was asked, in time. Only "y" and "yes" are
// an answer that does.
bool is_agreed();

}  // namespace gangrun::client
