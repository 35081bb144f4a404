"""A question's kind is known to who asks and to who answers, and to nobody between them."""

import re

import pytest

from house import cpp_files, read, report

# Not those of tokens, which Hadoop has.
KIND = re.compile(r"\bk(?:Stacks|Notice|[A-Z]\w*(?<!Token)Kind)\b")
# Who hands questions on: rooms, or sources of a room that has an end of some kinds, too.
BETWEEN = ("src/net/", "src/wire/", "src/cluster/", "src/master/", "src/host/", "src/agents/", "src/yarn/", "src/ssh/", "src/spark/")
ENDS = {
    "src/agents/agents_events.cc": "the master itself: it takes results, and gives tokens",
    "src/agents/key_desk.cc": "the master itself: it keeps keys and barriers",
    "src/cluster/question.cc": "makes notices",
    "src/cluster/question.h": "names their kind",
    "src/wire/agent_questions.h": "names kinds",
    "src/wire/key_messages.h": "names kinds",
    "src/wire/rest_client.cc": "asks masters of 0.1.0, which know notices by a path of their own",
}


def kinds_in(text):
    return sorted(set(KIND.findall(re.sub(r"//.*", "", text))))


def test_nobody_between_the_ends_knows_a_kind():
    naming = {str(path): kinds for path in cpp_files("src") if not path.stem.endswith("_test") and str(path).startswith(BETWEEN)
              for kinds in [kinds_in(read(path))] if kinds}
    offences = [f"{path} names {', '.join(kinds)}" for path, kinds in naming.items() if path not in ENDS]
    offences += [f"{path} names no kind any more" for path in ENDS if path not in naming]
    assert not offences, report(offences)


@pytest.mark.parametrize("code, kinds", [
    ("if (question.kind == cluster::kNotice) {", ["kNotice"]),
    ("ask.kind = wire::kControlKind;", ["kControlKind"]),
    ("tasks_.ask(to_ask.tasks, to_ask, told);  // as kNotice", []),
    ("question.kind = wire::kTokensKind;", ["kTokensKind"]),
    ("token.kind == kMasterTokenKind", []),
    ("constexpr int kKindBytes = 3;", []),
])
def test_kinds_are_seen(code, kinds):
    assert kinds_in(code) == kinds
