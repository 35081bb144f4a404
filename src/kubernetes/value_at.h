#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json.h"

// Parts of objects that others have made. Of any JSON: a part that is missing, or of another type,
// is as if it were not there.
namespace gangrun::kubernetes {

// The keys that lead to a part, from the outside in.
using KeyPath = std::initializer_list<std::string_view>;

// Null where there is nothing.
const base::Json& value_at(const base::Json& object, KeyPath path);
std::string text_at(const base::Json& object, KeyPath path);
// A list, which is empty where there is none.
const base::Json& list_at(const base::Json& object, KeyPath path);

}  // namespace gangrun::kubernetes
