#pragma once

// The rows of members that JSON has by their own names (described.h).

// All rows of a struct: GANGRUN_ROWS(StopMessage, agent, grace);
#define GANGRUN_ROWS(Owner, ...)                                               \
  static constexpr auto rows() {                                               \
    return std::tuple(GANGRUN_EACH(::gangrun::base::row, Owner, __VA_ARGS__)); \
  }                                                                            \
  static_assert(true)

// Some rows of one kind, between others: GANGRUN_EACH(base::row_if_set, StopMessage, agent, grace).
// The preprocessor takes one member each time it looks at the list: here up to 64 times.
#define GANGRUN_EACH(row_of, Owner, ...) GANGRUN_LOOK_64(GANGRUN_NEXT(row_of, Owner, __VA_ARGS__))
#define GANGRUN_NEXT(row_of, Owner, name, ...) \
  row_of(#name, &Owner::name)                  \
      __VA_OPT__(, GANGRUN_LATER GANGRUN_NO_ARGUMENTS(row_of, Owner, __VA_ARGS__))
#define GANGRUN_LATER() GANGRUN_NEXT
#define GANGRUN_NO_ARGUMENTS ()
#define GANGRUN_LOOK_64(...) \
  GANGRUN_LOOK_16(GANGRUN_LOOK_16(GANGRUN_LOOK_16(GANGRUN_LOOK_16(__VA_ARGS__))))
#define GANGRUN_LOOK_16(...) \
  GANGRUN_LOOK_4(GANGRUN_LOOK_4(GANGRUN_LOOK_4(GANGRUN_LOOK_4(__VA_ARGS__))))
#define GANGRUN_LOOK_4(...) GANGRUN_LOOK(GANGRUN_LOOK(GANGRUN_LOOK(GANGRUN_LOOK(__VA_ARGS__))))
#define GANGRUN_LOOK(...) __VA_ARGS__
