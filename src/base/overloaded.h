#pragma once

namespace gangrun::base {

// For std::visit: one lambda for each alternative. Without a generic one, an alternative that none
// takes does not compile.
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace gangrun::base
