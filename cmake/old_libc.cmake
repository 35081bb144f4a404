# gangrun_runs_on_old_systems(TARGET): links a program or a module so that glibc 2.17 is enough for it, whatever the C library
# here: old_libc/make-stubs says how. Nothing else of the old system is needed, and what is compiled is the same as without.
option(GANGRUN_OLD_LIBC "Link what users install so that it runs with glibc 2.17" ON)
set(GANGRUN_OLDEST_GLIBC 2.17)

# Once for all: the libraries without code, and what glibc 2.17 has not, compiled.
function(gangrun_make_old_libc)
  set(folder ${PROJECT_BINARY_DIR}/old_libc)
  set(from ${PROJECT_SOURCE_DIR}/cmake/old_libc)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libc.so.6 OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
  add_custom_command(OUTPUT ${folder}/libc.so
    COMMAND ${from}/make-stubs ${folder} ${GANGRUN_OLDEST_GLIBC} ${CMAKE_CXX_COMPILER}
    DEPENDS ${from}/make-stubs ${library} VERBATIM)
  add_custom_target(gangrun_old_libc_stubs DEPENDS ${folder}/libc.so)
  foreach(part missing start)
    add_library(gangrun_old_libc_${part} OBJECT ${from}/${part}.cc)
    target_compile_options(gangrun_old_libc_${part} PRIVATE -fPIC -ffunction-sections -Wall -Wextra -Werror -Wshadow)
  endforeach()
endfunction()

function(gangrun_runs_on_old_systems target)
  if(NOT GANGRUN_OLD_LIBC OR GANGRUN_SANITIZE OR GANGRUN_COVERAGE)
    return()
  endif()
  if(NOT TARGET gangrun_old_libc_stubs)
    gangrun_make_old_libc()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/old_libc)
  add_dependencies(${target} gangrun_old_libc_stubs)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${folder}/libc.so)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:gangrun_old_libc_missing>)
  # Threads and dlopen were in libraries of their own. These come before the C library, as an old one has functions of the same
  # names that do nothing.
  target_link_options(${target} PRIVATE "SHELL:-L${folder} -Wl,--push-state,-Bdynamic,--no-as-needed -lpthread -ldl -Wl,--pop-state"
    -Wl,--gc-sections)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:gangrun_old_libc_start>)
    target_link_options(${target} PRIVATE -Wl,--entry=gangrun_start)
  endif()
endfunction()
