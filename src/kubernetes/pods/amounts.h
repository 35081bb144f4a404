#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "job/spec.h"

// Amounts of memory, processors and storage, as containers have them.
namespace gangrun::kubernetes::pods {

// "500m" is 0.5, "64Mi" is 67108864, "1e3" is 1000; none: it is no amount.
std::optional<double> amount_of(std::string_view text);
// The smaller of two; the first one where the other is no amount.
std::string smaller_amount(const std::string& one, const std::string& other);

// The `resources` of a container of ours beside the task's, with the kinds of limits that that one
// has: a quota that asks for one asks all containers. None is higher than the task's, as a
// LimitRange is for all of them too.
base::Json helper_amounts(const base::Json& of_task);
// The same for the relay: what the job says of it goes before what it needs.
void put_relay_amounts(const job::Resources& own, base::Json& resources);

enum class AmountRefusal {
  kNone,
  kRange,  // a LimitRange: no container of such an amount will ever be taken
  kQuota,  // may pass
};
// Whether the API server has refused a pod for what its containers ask for, by its message.
AmountRefusal amount_refusal(std::string_view message);
// The end of the sentence that says so: the fields to set, of `section` ("kubernetes.relay");
// empty: it is another refusal.
std::string fields_for_amounts(std::string_view message, std::string_view section);

}  // namespace gangrun::kubernetes::pods
