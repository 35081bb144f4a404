"""What of a function is brought to the tasks, and what is refused before anything starts."""

import functools
import json
import subprocess
import sys
import threading
import types

import pytest

from gangrun import _function, _modules, _shipping
from gangrun.errors import InvalidJob

HELPER = """
FACTOR = 3
class Model:
    def __init__(self, size):
        self.size = size
    def scaled(self):
        return self.size * FACTOR
def train(size):
    return Model(size).scaled()
"""
# A process that has neither the test's modules nor its folder.
ELSEWHERE = "import sys; from gangrun import _function; f, a, k = _function.load(open(sys.argv[1], 'rb').read()); print(f(*a, **k))"


@pytest.fixture
def helper(folder, monkeypatch):
    """A module beside the user's script."""
    (folder / "helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    import helper
    yield helper
    del sys.modules["helper"]


def payload(main, *args, files=None, **kwargs):
    (made,) = _function.payloads([main], args, kwargs, files or {}).values()
    return made


def called_elsewhere(content, tmp_path_factory, *python_path):
    place = tmp_path_factory.mktemp("elsewhere")
    (place / "payload").write_bytes(content)
    from conftest import ROOT
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, "payload"], cwd=place, capture_output=True, text=True, timeout=60,
                          env={"PYTHONPATH": ":".join([str(ROOT / "python"), *map(str, python_path)])})
    return done.stdout.strip() or done.stderr


def test_a_function_of_a_module_beside_the_script_goes_with_what_it_refers_to(helper, tmp_path_factory):
    assert called_elsewhere(payload(helper.train, 5), tmp_path_factory) == "15"


def test_a_function_that_refers_to_such_a_module_takes_it_along(helper, tmp_path_factory):
    def train(size, *, more=0):
        return helper.Model(size).scaled() + more

    assert called_elsewhere(payload(train, 5, more=1), tmp_path_factory) == "16"


def test_a_module_among_the_files_is_imported_where_the_task_is(helper, folder, tmp_path_factory):
    content = payload(helper.train, 5, files={"helper.py": str(folder / "helper.py")})
    assert b"scaled" not in content
    assert "No module named 'helper'" in called_elsewhere(content, tmp_path_factory)
    assert called_elsewhere(content, tmp_path_factory, folder) == "15"


def test_what_is_installed_into_a_folder_of_its_own_is_no_module_beside_the_script(helper, folder, monkeypatch):
    (folder / "helper-1.0.dist-info").mkdir()
    monkeypatch.setattr(_modules, "_environment_folders", _modules._environment_folders.__wrapped__)
    assert b"scaled" not in payload(helper.train, 5)


def test_a_reference_pickles_nothing(helper, folder, tmp_path_factory):
    content = payload("os.path:basename", files={})
    assert content.endswith(b"\n") and content.count(b"\n") == 1
    shipped = payload("helper:Model.scaled", files={"helper.py": str(folder / "helper.py")})
    assert json.loads(shipped)["target"] == "helper:Model.scaled"


def test_what_a_function_imports_when_it_runs_has_to_be_there(helper, folder):
    def train():
        import json  # noqa: F401: of the standard library
        from helper import FACTOR
        return FACTOR

    with pytest.raises(InvalidJob, match=r"train imports 'helper', which lies in .*helper\.py, which is neither in the "
                                         r"environment nor among files; bring it with files="):
        payload(train)
    assert payload(train, files={"helper.py": str(folder / "helper.py")})


@pytest.mark.parametrize("main, said", [
    ("helper:train", r"main: 'helper:train' is in .*helper\.py, which is neither"),
    ("no_such_module:train", "there is no module 'no_such_module'"),
])
def test_a_reference_to_what_no_task_would_find_is_refused(helper, main, said):
    with pytest.raises(InvalidJob, match=said):
        payload(main)


def test_the_member_that_cannot_be_pickled_is_named():
    lock = threading.Lock()
    config = {"rate": 0.1, "guard": lock}

    def train():
        return config["rate"]

    with pytest.raises(InvalidJob, match=r"train cannot be pickled, because of the variable 'config' that it refers to, "
                                         r"\['guard'\]: TypeError: cannot pickle '_thread.lock' object"):
        payload(train)
    with pytest.raises(InvalidJob, match=r"cannot be pickled, because of the argument 1: TypeError"):
        payload(print, 0, lock)
    with pytest.raises(InvalidJob, match=r"because of the argument 'guard'"):
        payload(functools.partial(print), guard=lock)


def test_a_large_closure_is_refused_and_the_large_thing_is_named(monkeypatch):
    monkeypatch.setattr(_function, "MAX_PICKLED_BYTES", 2 << 20)
    table, small = b"x" * (3 << 20), 1

    def train():
        return len(table) + small

    with pytest.raises(InvalidJob, match=r"train .* is 3 MiB when pickled; allowed: 2 MiB \(most of it, 3 MiB, is the "
                                         r"variable 'table' that it refers to\)"):
        payload(train)


def test_another_python_in_the_task_is_one_clear_error():
    header, _, body = payload(print, 1).partition(b"\n")
    other = json.dumps({**json.loads(header), "python": [3, 4]}).encode()
    with pytest.raises(RuntimeError, match=r"the function was pickled by Python 3\.4, and this task runs Python 3\.\d+ \("):
        _function.load(other + b"\n" + body)


def test_arguments_are_a_sequence():
    with pytest.raises(InvalidJob, match="args: 'abc' is a str; allowed: a list or a tuple"):
        _function.payloads([print], "abc", {}, {})


class Lazy(types.ModuleType):
    """As some packages leave in sys.modules for what is not installed."""

    def __getattribute__(self, name):
        raise ImportError("no such library")


def test_a_module_that_cannot_be_looked_at_is_left_alone(helper, monkeypatch, tmp_path_factory):
    monkeypatch.setitem(sys.modules, "lazy_one", Lazy("lazy_one"))
    assert called_elsewhere(payload(helper.train, 5), tmp_path_factory) == "15"


def test_a_module_may_be_there_by_two_names(helper, monkeypatch, tmp_path_factory):
    """As those of Spark 4 are, with Spark in an archive that the tasks do not have."""
    monkeypatch.setitem(sys.modules, "helper.other", helper)
    assert called_elsewhere(payload(helper.train, 5), tmp_path_factory) == "15"


def test_nothing_stays_registered(helper):
    import cloudpickle
    payload(helper.train, 1)
    assert "helper" not in cloudpickle.list_registry_pickle_by_value()
    with pytest.raises(InvalidJob):
        _shipping.dumps((None, (threading.Lock(),), {}), "it", {})
    assert "helper" not in cloudpickle.list_registry_pickle_by_value()
