"""Words that do not stand in this code, each with what to write instead."""

import dataclasses
import pathlib
import re

import pytest

from house import CPP, bare_code, is_test_code, project_files, read, report

THIS = pathlib.PurePosixPath("tests/tidy/test_words.py")


@dataclasses.dataclass
class Rule:
    pattern: str
    instead: str
    applies: object  # a path → is it looked at
    sample: str  # a text that the rule must find
    bare: bool = False  # look at C++ without comments and literals


def cpp(path):
    return path.suffix in CPP


def headers(path):
    return path.suffix == ".h"


def product(path):
    return path.suffix in CPP and path.parts[0] == "src" and not is_test_code(path)


def python(path):
    return path.suffix == ".py" or (path.parts[0] in ("tools", "tests", "bench") and not path.suffix)


def scripts(path):
    return path.suffix == ".sh" or path.parts[0] in (".ci", "tools") or path.name == "Makefile"


def code(path):
    return cpp(path) or python(path) or scripts(path) or path.name == "CMakeLists.txt"


def everything(path):
    return path.suffix not in (".csv", ".png")


RULES = [
    Rule(r"\bco_(await|yield|return)\b", "straight-line code on a worker thread (docs/decisions/0001)", cpp,
         "co_await x;", bare=True),
    Rule(r"\busing\s+namespace\b", "the name, or a using declaration inside a function", headers,
         "using namespace std;", bare=True),
    Rule(r"(?<!operator )\bnew\b", "std::make_unique, or a value", cpp, "auto* a = new A();", bare=True),
    Rule(r"(?<!= )(?<!operator )\bdelete\b", "an owner that deletes by itself", cpp, "delete a;", bare=True),
    Rule(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>])sleep\s*\(", "a wait on a condition with a deadline",
         cpp, "std::this_thread::sleep_for(1s);", bare=True),
    Rule(r"\bpoll\s*\(\s*(nullptr|NULL|0)\b", "base::pause_for()", cpp, "::poll(nullptr, 0, 5)", bare=True),
    Rule(r"\bstd::regex\b|<regex>", "a small parser, or base/strings.h", cpp, "std::regex r;", bare=True),
    Rule(r"\bvolatile\b(?!\s+(std::)?sig_atomic_t)", "std::atomic", cpp, "volatile int x;", bare=True),
    Rule(r"(?<![\w.>])(std::)?(system|popen)\s*\(", "process/, without a shell", cpp, "system(text);", bare=True),
    Rule(r"(\.|->)detach\s*\(\s*\)", "a thread that its owner joins", cpp, "thread.detach();", bare=True),
    Rule(r"\bassert\s*\(", "GANGRUN_CHECK, which stays in the release build and prints the operands", cpp,
         "assert(a);", bare=True),
    Rule(r"\bthrow\b", "base::Result", product, "throw Bad();", bare=True),
    Rule(r"\b(sprintf|vsprintf|strcpy|strcat|gets|atoi|atol|atof|strtok|rand|srand|gmtime|localtime|tmpnam|mktemp)\s*\(",
         "base/strings.h, base/format.h or the _r function", product, "atoi(text)", bare=True),
    Rule(r"\b(get_if|holds_alternative)\b", "std::visit with base::Overloaded that names every alternative", product,
         "std::get_if<A>(&x)", bare=True),
    # For a value that may be changed, it is taken before a handler with const T&.
    Rule(r"\]\s*\(auto&&? /\*", "const auto& for the other alternatives", cpp, "[](auto& /*other*/) {}"),
    Rule(r"[<>]=? *'[aA0]'|\b(is|to)(lower|upper|alpha|alnum|digit|xdigit)\b", "base/letters.h", product, "c >= 'a'"),
    Rule(r"\bstd::endl\b", "'\\n'", cpp, "out << std::endl;", bare=True),
    Rule(r"\b(steady|system)_clock::now\b", "the base::Clock that main hands down",
         lambda path: product(path) and path.parts[1] in ("job", "journal"), "steady_clock::now()", bare=True),
    Rule(r"#ifndef\s+\w+_H_?\b", "#pragma once", headers, "#ifndef GANGRUN_X_H"),
    Rule(r"\btime\.sleep\(", "a wait on a condition with a deadline", python, "time.sleep(1)"),
    Rule(r"\bos\.system\(|shell=True", "an argument list", python, "os.system(x)"),
    Rule(r"except\s*:", "the exception that is meant", python, "except:"),
    Rule(r"(^|[;&|(]|\bdo\b)\s*sleep\s+[0-9.$]", "a wait on a condition with a deadline", scripts, "x; sleep 5"),
    Rule(r"\|\|\s*true\b", "a check of the one status that is fine", code, "rm x || true"),
    Rule(r"\bGTEST_SKIP\b|\bDISABLED_|\bpytest\.(mark\.)?(skip|skipif|xfail)\b|unittest\.skip", "a test that can fail everywhere",
         code, "GTEST_SKIP();"),
    Rule(r"\bimportorskip\b", "a test that needs nothing the gate has not", code, "pytest.importorskip('numpy')"),
    Rule(r"\b(TODO|FIXME|XXX|HACK)\b", "the thing itself, or an issue", everything, "// TODO: later"),
    Rule(r"(?i)\bnot implemented\b|\bNotImplementedError\b", "the thing itself, or a clear refusal of what is asked", code,
         "raise NotImplementedError"),
    Rule("/none" + r"xistent\b", "a path inside a folder that the test made", code, '"/none' + 'xistent"'),
    # Behind the start of a text: what follows a folder's name is fine.
    Rule("(?<!\\+ )[\"'!=]/(now" + r"here|gone|nothing|no)\b(?!-)", "a path inside a folder that the test made", code, 'open("/now' + 'here")'),
    Rule(r"(?i)\bwhite-?list|\bblack-?list", "allow list, deny list", everything, "whitelist"),
    Rule("/(" + "work|farm|root" + r")/|/tmp/b/", "a path that every machine has", everything, "/wo" + "rk/main"),
    # Lists that stand once; what is made of them follows them.
    Rule(r'^(?:(?!//).)*"(tensorflow|pytorch|jax|horovod)"', "to_string(job::Framework) or framework_names()", product, '"pytorch"'),
    Rule(r'^(?:(?!//).)*"(SIG)?(INT|HUP|QUIT|USR1|USR2)"', "to_string(job::StopSignal), or a number of <csignal>", product, '"USR1"'),
    Rule("|".join([r"pypi\.org", "pythonhosted", r"registry\.npmjs", r"crates\.io/", r"proxy\.golang", r"repo1?\.maven",
                   r"repo\.maven\.apache", r"deb\.debian\.org"]).replace("p", "[p]").replace("g", "[g]").replace("b", "[b]"),
         "the package's name only", everything, "pypi" + ".org"),
]

# (rule's sample, file): why the word may stand there.
ALLOWED = {
    ("co_await x;", "tests/toolchain/coroutine_probe.cc"): "the probe that keeps the rule honest",
    ("whitelist", "proto/hadoop/yarn_master.proto"): "the names of Hadoop's own messages",
    ("volatile int x;", "src/kubernetes/loader/system_call.h"): "a call of the kernel has effects that the compiler does not see",
    ("volatile int x;", "src/base/secret.cc"): "the comparison must not stop at the first difference",
    ("c >= 'a'", "src/base/letters.h"): "that is where they are",
    ("std::get_if<A>(&x)", "src/gang/gang_driver.h"): "a test asks for the decisions of one kind",
    ("std::get_if<A>(&x)", "src/jobfile/field.h"): "a row's type says which alternative its value has",
    ("std::get_if<A>(&x)", "src/jobfile/task_fields.cc"): "a row's type says which alternative its value has",
    ("std::get_if<A>(&x)", "src/kubernetes/access.cc"): "asks for one kind of login: a plugin, or none",
    ('"pytorch"', "src/job/spec.h"): "that is where they are",
    ('"pytorch"', "src/job/choice.cc"): "what others call them",
    ('"pytorch"', "src/yarn/tensorflow_trial.cc"): "a module of Python",
    ("::poll(nullptr, 0, 5)", "src/base/pause.cc"): "that is pause_for()",
    ('"USR1"', "src/job/spec.h"): "that is where they are",
    ("std::get_if<A>(&x)", "src/kubernetes/login.cc"): "a plugin is a program: it alone is waited for",
}


def offences_in(path, text):
    bare = bare_code(text) if path.suffix in CPP else text
    for rule in RULES:
        if not rule.applies(path) or (rule.sample, path.as_posix()) in ALLOWED:
            continue
        for match in re.finditer(rule.pattern, bare if rule.bare else text, re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: '{match.group().strip()}': write {rule.instead}"


def test_no_banned_word_stands_anywhere():
    offences = [offence for path in project_files() if path != THIS for offence in offences_in(path, read(path))]
    assert not offences, report(offences)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sample)
def test_each_rule_finds_its_word(rule):
    kinds = ("src/job/a.h", "src/job/a.cc", "tests/a.py", "tools/a.sh", "Makefile", "docs/a.md")
    looked_at = [path for path in map(pathlib.PurePosixPath, kinds) if rule.applies(path)]
    assert looked_at and re.search(rule.pattern, rule.sample, re.MULTILINE)


@pytest.mark.parametrize("text", [
    "// a new one, deleted later\n", 'log("no new system(x)");', "A(const A&) = delete;", "static_assert(sizeof(A) == 8);",
    "volatile std::sig_atomic_t stop = 0;", "auto sleeper(int);", 'R"(new\n delete)" ', "const int kilo = 1'000; // throw",
])
def test_harmless_code_passes(text):
    assert list(offences_in(pathlib.PurePosixPath("src/job/a.cc"), text)) == []


def test_exceptions_are_still_needed():
    samples = {rule.sample: rule for rule in RULES}
    for (sample, path), reason in ALLOWED.items():
        assert reason and re.search(samples[sample].pattern, read(path), re.MULTILINE), f"{path} no longer needs its exception"
