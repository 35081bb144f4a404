#pragma once

namespace gangrun::job {

// What a plan is for: people get units, programs bare numbers. A job file takes both.
enum class PlanForm { kForPeople, kForPrograms };

}  // namespace gangrun::job
