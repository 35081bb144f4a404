#pragma once

namespace gangrun::job {

// The reader of a plan: people get units, programs bare numbers. A job file takes both.
enum class PlanForm { kForPeople, kForPrograms };

}  // namespace gangrun::job
