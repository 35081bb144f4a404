#pragma once

#include <concepts>

namespace gangrun::base {

// For std::visit: one lambda for each alternative. Without a generic one, an alternative that none
// takes does not compile.
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// For a lambda that takes several alternatives, each named: `const OneOf<A, B> auto&`.
template <typename T, typename... Ts>
concept OneOf = (std::same_as<T, Ts> || ...);

}  // namespace gangrun::base
