#pragma once

#include <string>

#include "job/cause.h"

namespace gangrun::jobfile {

// A cause for one line of a table. Of a task that ended with a status of its own the last line that
// it wrote tells more than the status: "worker:5: ValueError: no (status 1)".
std::string table_words(const job::Cause& cause);

}  // namespace gangrun::jobfile
