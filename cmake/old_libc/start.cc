// The beginning of a program that is linked for old systems.
//
// The C library of glibc 2.34 and later finds a program's constructors itself, and so the start
// code that comes with it names none. An older one calls the function that it is given, and nothing
// else.

namespace {

using Constructor = void (*)(int, char**, char**);
using Function = void (*)();

}  // namespace

extern "C" {

// The array that the linker makes.
extern const Constructor gangrun_constructors[] __asm__("__init_array_start");
extern const Constructor gangrun_constructors_end[] __asm__("__init_array_end");

// By its name no C++ may refer to it.
int gangrun_main(int count, char** words, char** variables) __asm__("main");

[[noreturn]] int __libc_start_main(int (*main)(int, char**, char**), int count, char** words,
                                   Constructor construct, Function destroy, Function unload,
                                   void* stack_end);

static void gangrun_construct(int count, char** words, char** variables) {
  for (const Constructor* one = gangrun_constructors; one != gangrun_constructors_end; ++one) {
    (*one)(count, words, variables);
  }
}

// `stack` begins with the number of words, and the words; `unload` is the loader's, for the end.
// Destructors need no function of ours: the loader of every glibc calls them.
[[noreturn, gnu::used, gnu::visibility("hidden")]] void gangrun_begin(long* stack,
                                                                      Function unload) {
  __libc_start_main(gangrun_main, static_cast<int>(*stack), reinterpret_cast<char**>(stack + 1),
                    gangrun_construct, nullptr, unload, stack);
  __builtin_unreachable();
}

}  // extern "C"

// The kernel's stack is handed on, aligned: where an old loader was started as a program, and has
// taken its own words away, it is not. No frame is above this one: what walks the stack ends here.
__asm__(
    ".pushsection .text.gangrun_start,\"ax\"\n"
    ".globl gangrun_start\n"
    ".hidden gangrun_start\n"
    ".type gangrun_start, STT_FUNC\n"
    "gangrun_start:\n"
    ".cfi_startproc\n"
#if defined(__x86_64__)
    ".cfi_undefined rip\n"
    "xorl %ebp, %ebp\n"
    "movq %rsp, %rdi\n"
    "movq %rdx, %rsi\n"
    "andq $-16, %rsp\n"
    "call gangrun_begin\n"
    "hlt\n"
#elif defined(__aarch64__)
    ".cfi_undefined x30\n"
    "mov x29, #0\n"
    "mov x30, #0\n"
    "mov x1, x0\n"
    "mov x0, sp\n"
    "bl gangrun_begin\n"
    "brk #1\n"
#else
#error "how a program starts on this processor is missing here"
#endif
    ".cfi_endproc\n"
    ".size gangrun_start, . - gangrun_start\n"
    ".popsection\n");
