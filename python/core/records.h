#pragma once

#include <nanobind/nanobind.h>

namespace gangrun::core {

// Adds src/records to the module: BadRecord, RecordDecoder, RecordLines and the functions beside.
void add_records(nanobind::module_& module);

}  // namespace gangrun::core
