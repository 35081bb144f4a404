#pragma once

#include <chrono>

namespace gangrun::cluster {

// Between two looks at something that YARN tells nobody of.
void pause_for(std::chrono::milliseconds time);

}  // namespace gangrun::cluster
