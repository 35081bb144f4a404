#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/engine.h"

// A process that removes a task's containers when nobody else is left to do it. It is neither a
// descendant of the guardian nor in its session, so that what kills those two spares it; and the
// guardian cannot start a program itself once the first process of its PID namespace has ended.
namespace gangrun::process {

// How guardian and agent reach it.
struct ContainerRemover {
  // Held by both: its end, or one byte, is the order.
  base::UniqueFd order;
  // Held by the guardian: ends when all is removed, or was given up.
  base::UniqueFd done;
};

// Starts `gangrun-agent remove`; without containers nothing.
base::Result<ContainerRemover> start_container_remover(const EngineContainers& containers);

// Orders the removal and waits for it. `settled`: nobody can have made one since it was removed.
base::Result<> order_removal(ContainerRemover& remover, bool settled, base::Instant deadline);

// The work of that program: it waits for the order at `order`, and removes.
base::Result<> remove_when_ordered(int order, const EngineContainers& containers);

}  // namespace gangrun::process
