"""What of a function is pickled by value, and the errors that tell before anything starts what cannot be."""

from __future__ import annotations

import contextlib
import dis
import inspect
import pickle
import threading
from types import CodeType
from typing import Any, Callable, Iterator, Mapping, Optional

from gangrun import _modules, _names_sent, _texts
from gangrun.errors import InvalidJob, NotInstalled

# How deep the reason is looked for why something cannot be pickled, and among how many members of each thing.
MAX_DEPTH = 4
MAX_MEMBERS = 1000
# The modules that are pickled by value are one list of the whole process, and several threads may start jobs.
_registering = threading.RLock()


def _cloudpickle() -> Any:
    try:
        import cloudpickle
    except ImportError:
        raise NotInstalled("functions are sent by the package 'cloudpickle', which is not there: "
                           "pip install cloudpickle, or name the function as 'package.module:function'") from None
    return cloudpickle


@contextlib.contextmanager
def _by_value(files: Mapping[str, str]) -> Iterator[Callable[[Any], bytes]]:
    """Pickles what modules that a task does not find have defined as if it were defined in a notebook."""
    cloudpickle = _cloudpickle()
    registered: dict[str, Any] = {}
    _registering.acquire()
    try:
        known = cloudpickle.list_registry_pickle_by_value()
        for module in _modules.foreign_modules(files):
            if module.__name__ not in known and module.__name__ not in registered:  # it may be there by two names
                with contextlib.suppress(ValueError):  # a module that calls itself something else than sys.modules does
                    cloudpickle.register_pickle_by_value(module)
                    registered[module.__name__] = module
        yield cloudpickle.dumps
    finally:
        for module in registered.values():
            cloudpickle.unregister_pickle_by_value(module)
        _registering.release()


def dumps(value: tuple[Any, Any, Any], what: str, files: Mapping[str, str]) -> bytes:
    """A function, its arguments and its keyword arguments; InvalidJob names the member that cannot be pickled."""
    with _by_value(files) as pickled:
        try:
            return bytes(pickled(value))
        except Exception as error:  # what a user's object raises while it is pickled may be anything
            member = _culprit(value, pickled)
            raise InvalidJob(f"main: {what} cannot be pickled{member}: {type(error).__name__}: {error}") from error


def names_of_script(files: Mapping[str, str]) -> Optional[_names_sent.Sent]:
    """What goes with every function of this script."""
    with _by_value(files):
        return _names_sent.of_script()


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value is made of as far as pickling goes, with words for where it is."""
    if inspect.isfunction(value):
        found = inspect.getclosurevars(value)
        yield from ((f"the variable '{name}' that it refers to", member)
                    for name, member in [*found.nonlocals.items(), *found.globals.items()])
        yield from ((f"the default {number} of its arguments", member) for number, member in enumerate(value.__defaults__ or ()))
    elif inspect.ismethod(value):
        yield "the object that it is a method of", value.__self__
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", member) for key, member in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{number}]", member) for number, member in enumerate(value))
    elif not isinstance(value, type) and hasattr(value, "__dict__"):
        yield from ((f"the attribute '{name}' of a {type(value).__qualname__}", member)
                    for name, member in vars(value).items())


def _parts(value: tuple[Any, Any, Any]) -> Iterator[tuple[str, Any]]:
    function, args, kwargs = value
    if function is not None:
        yield "", function
    yield from ((f"the argument {number}", member) for number, member in enumerate(args))
    yield from ((f"the argument '{name}'", member) for name, member in kwargs.items())


def _culprit(value: tuple[Any, Any, Any], pickled: Callable[[Any], bytes]) -> str:
    """Follows what cannot be pickled inwards: ", because of the variable 'x' that it refers to, …"."""
    path: list[str] = []
    members: Iterator[tuple[str, Any]] = _parts(value)
    for _ in range(MAX_DEPTH):
        bad = _first_unpicklable(members, pickled)
        if bad is None:
            break
        words, member = bad
        if words:
            path.append(words)
        members = _members(member)
    return f", because of {', '.join(path)}" if path else ""


def _first_unpicklable(members: Iterator[tuple[str, Any]],
                       pickled: Callable[[Any], bytes]) -> Optional[tuple[str, Any]]:
    for number, (words, member) in enumerate(members):
        if number >= MAX_MEMBERS:
            break
        try:
            pickled(member)
        except Exception:  # the one that is looked for
            return words, member
    return None


def largest(main: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Where most of too much comes from, in words; each part is pickled once more."""
    parts = [(words, member) for words, member in _parts((None, args, kwargs))]
    parts += list(_members(main)) if not isinstance(main, str) else []
    found = ("", 0)
    cloudpickle = _cloudpickle()
    for words, member in parts[:MAX_MEMBERS]:
        with contextlib.suppress(Exception):  # it could be pickled in the whole; alone it is only not measured
            size = len(cloudpickle.dumps(member, protocol=pickle.HIGHEST_PROTOCOL))
            found = max(found, (words, size), key=lambda pair: pair[1])
    return f" (most of it, {_texts.size(found[1])}, is {found[0]})" if found[1] else ""


def check_reference(main: str, files: Mapping[str, str]) -> None:
    """For "package.module:function": it has to be where the task finds it."""
    module = main.partition(":")[0]
    if not _modules.exists(module, files):
        raise InvalidJob(f"main: there is no module '{module}'; put a module beside the script into files=")
    _refuse_foreign(module, f"main: '{main}' is", files)


def _refuse_foreign(module: str, what: str, files: Mapping[str, str]) -> None:
    path = _modules.foreign_file(module, files)
    if path is not None:
        raise InvalidJob(f"{what} in {path}, which is neither in the environment nor among files; "
                         f"bring it with files=[{path!r}]")


def check_imports(main: Any, files: Mapping[str, str]) -> None:
    """What the function imports when it runs has to be where the task finds it; what it refers to is pickled."""
    code = getattr(inspect.unwrap(main) if inspect.isroutine(main) else main, "__code__", None)
    if isinstance(code, CodeType):
        for module in _imports(code):
            _refuse_foreign(module, f"main: the function {main.__qualname__} imports '{module}', which lies", files)


def _imports(code: CodeType) -> Iterator[str]:
    instructions = list(dis.get_instructions(code))
    for number, instruction in enumerate(instructions):
        # Before it stand how many packages up it looks, and what is taken out of it.
        if instruction.opname == "IMPORT_NAME" and number >= 2 and instructions[number - 2].argval == 0:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imports(constant)
