#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gangrun::process {

// The last Python traceback in `lines`, from its heading to the line with the exception, together
// with those before it that it says led to it ("During handling of …", "The above exception was
// …"); none where there is none. A prefix before the heading ("[rank0]: ") is taken off, and
// lines without it, which are another process's, are left out.
std::optional<std::string> python_traceback(const std::vector<std::string>& lines);

}  // namespace gangrun::process
