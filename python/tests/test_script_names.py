"""The module-level names of a script, in a task of a function that does not refer to them."""

import json
import pickle

from gangrun import _names_sent
from test_script import answers

SCRIPT = '''
from __future__ import annotations
import dataclasses, enum, functools, json, logging, multiprocessing, os, pickle, sys, threading, typing
import beside, gangrun, heavy

print("the script runs", file=open("runs", "a"))
RATE = 0.5
LOCK = threading.Lock()
DATA = list(range(10_000_000))
MODEL = heavy.Model()
log = logging.getLogger("train")

class Color(enum.Enum):
    RED = 1

@dataclasses.dataclass
class Config:
    color: Color
    parent: typing.Optional[Config] = None

class Child(Config):
    def made(self):
        return helper(RATE), Child.__name__, beside.double(2)

MODELS = {"child": Child}
KEPT = Config(Color.RED)
alias = Config

def helper(rate):
    log.info("rate")
    return rate * len(Color)

@functools.lru_cache(maxsize=7)
def cached(x):
    return x + RATE

def needs_model():
    return MODEL

def uses_heavy():
    return heavy.Model

def asked(names):
    main = sys.modules["__main__"]
    found = {}
    for name in names:
        try:
            found[name] = repr(getattr(main, name))
        except AttributeError as error:
            found[name] = str(error)
    return found

def annotated(config: Config, model: heavy.Model):
    kept = pickle.loads(pickled)
    main = sys.modules["__main__"]
    return {"rate": main.RATE, "again": type(kept).__name__, "same": type(kept) is main.Config is main.alias is type(main.KEPT),
            "member": kept.color is main.Color.RED, "hints": [hint.__name__ for hint in typing.get_type_hints(annotated).values()],
            "registry": globals()["MODELS"]["child"](1).made(), "helper": globals()["helper"](4),
            "cached": [main.cached(1), main.cached.cache_parameters()["maxsize"]], "children": children(), "heavy": "heavy" in sys.modules}

def children():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(eval, ("__import__('__main__').Child(2).made()",))

def calls_cached():
    return cached(2)

def late():
    before = "heavy" in sys.modules, "uses_heavy" in globals()
    return [*before, sys.modules["__main__"].uses_heavy().__name__, "heavy" in sys.modules]

def ask(function, *args):
    try:
        return gangrun.run({"worker": 1}, function, args=args, display=False, files=["heavy.py"]).result
    except gangrun.errors.JobFailed as error:
        return str(error)

pickled = pickle.dumps(KEPT)
out = {"annotated": ask(annotated, None, None), "cached": ask(calls_cached), "late": ask(late),
       "asked": ask(asked, ["LOCK", "DATA", "MODEL", "needs_model", "NONE"])}
print(json.dumps(out))
'''


# A task had only the names that its function refers to: `__main__.RATE`, somebody's pickle of an object of the script, and
# typing.get_type_hints failed. A second run of the script would start the job again.
def test_a_task_has_the_names_of_the_script(folder):
    (folder / "heavy.py").write_text("class Model: pass\n")
    (folder / "beside.py").write_text("def double(x): return 2 * x\n")
    (folder / "train.py").write_text(SCRIPT)
    found = answers("train.py", cwd=folder)
    assert found["annotated"] == {
        "rate": 0.5, "again": "Config", "same": True, "member": True, "hints": ["Config", "Model"],
        "registry": [0.5, "Child", 4], "helper": 4, "cached": [1.5, 7], "children": [0.5, "Child", 4], "heavy": True}
    assert found["cached"] == 2.5
    assert found["late"] == [False, False, "Model", True]
    refer = "refer to it in the function, or give it to the function as an argument"
    assert found["asked"] == {
        "LOCK": f"'LOCK' of the script is not in this task: it has an object of _thread.lock; {refer}",
        "DATA": f"'DATA' of the script is not in this task: it is larger than 1 MiB when pickled; {refer}",
        "MODEL": f"'MODEL' of the script is not in this task: it has an object of heavy.Model; {refer}",
        "needs_model": "'needs_model' of the script cannot be made in this task: it refers to 'MODEL', which is not in this task: "
                       "it has an object of heavy.Model",
        "NONE": "module '__main__' has no attribute 'NONE'"}
    assert (folder / "runs").read_text() == "the script runs\n"


def test_what_was_typed_and_shown_in_a_notebook_stays_there():
    notebook = {"In": ["password = 'x'"], "Out": {}, "_": 1, "_i": "password = 'x'", "_ih": [], "get_ipython": print, "rate": 1}
    assert list(_names_sent.collected(notebook).entries) == ["rate"]


def test_all_names_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(_names_sent, "MAX_BYTES", 3000)
    sent = _names_sent.collected({"a": b"x" * 2000, "b": b"y" * 2000, "c": 1})
    assert sorted(sent.entries) == ["a", "c"]
    assert sent.left_out == {"b": "the script's names are larger than 2.9 KiB together when pickled"}


class Refusing:
    def __reduce__(self):
        raise RuntimeError("not me")


def test_what_cannot_be_pickled_is_left_out_and_says_why():
    Refusing.__module__ = "__main__"
    assert _names_sent.collected({"it": Refusing()}).left_out == {"it": "it cannot be pickled: RuntimeError: not me"}


def test_data_is_pickled_as_it_is():
    assert pickle.loads(_names_sent.collected({"a": {"b": [1, (2.5, None)]}}).entries["a"][0]) == {"b": [1, (2.5, None)]}
    assert json.dumps(_names_sent.collected({}).left_out) == "{}"
