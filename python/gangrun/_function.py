"""A function as the bytes that are brought to the tasks: one line of JSON, then what is pickled.

The line says what the rest needs before anything of it is read: `python`, the version that pickled it; `target`,
"package.module:function" where the function itself is not pickled; and `script`, what is around it (_script.py). Behind the
function, of which `pickled` is the size, are the script's names (_names_sent.py): `names` has the size of each, and what it needs.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from gangrun import _script, _texts, compat
from gangrun.errors import InvalidJob

if TYPE_CHECKING:
    from gangrun._names_sent import Sent

FORMAT = 2
# A pickle travels to every task; larger things belong into files, or are read where they are.
MAX_PICKLED_BYTES = 100 * 1024 * 1024


def payloads(mains: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any],
             files: Mapping[str, str]) -> dict[Any, bytes]:
    """Each of the functions with its arguments. Raises InvalidJob for what cannot be brought to a task."""
    if isinstance(args, (str, bytes)) or not isinstance(args, (list, tuple)):
        raise InvalidJob(f"args: {args!r} is a {type(args).__name__}; allowed: a list or a tuple")
    made: dict[Any, bytes] = {}
    for main in mains:
        if key_of(main) not in made:
            made[key_of(main)] = _payload(main, tuple(args), dict(kwargs), files)
    return made


def key_of(main: Any) -> Any:
    """The key of a function in `payloads`: what can be called need not be hashable."""
    return main if isinstance(main, str) else id(main)


def _payload(main: Any, args: tuple[Any, ...], kwargs: dict[str, Any], files: Mapping[str, str]) -> bytes:
    from gangrun import _shipping  # which a task has no use for

    target = None
    if isinstance(main, str):
        _shipping.check_reference(main, files)
        target, what, body = main, f"the arguments of {main}", b""
        if args or kwargs:
            body = _shipping.dumps((None, args, kwargs), what, files)
    else:
        what = f"the function {getattr(main, '__qualname__', repr(main))}"
        _shipping.check_imports(main, files)
        body = _shipping.dumps((main, args, kwargs), what, files)
    if len(body) > MAX_PICKLED_BYTES:
        raise InvalidJob(f"main: {what} with its arguments and what it refers to is {_texts.size(len(body))} when pickled; "
                         f"allowed: {_texts.size(MAX_PICKLED_BYTES)}{_shipping.largest(main, args, kwargs)}. Large data belongs "
                         "into files=, or is read by the task where it lies")
    names = _shipping.names_of_script(files) if body else None
    return with_header(body, target, _script.described(bool(files)), names)


def with_header(body: bytes, target: Optional[str], script: Optional[Mapping[str, Any]], names: Optional[Sent] = None) -> bytes:
    entries, left_out = names if names is not None else ({}, {})
    header = {"format": FORMAT, "python": list(sys.version_info[:2]), "target": target, "pickled": len(body),
              "answers": compat.is_answering(), "script": script, "left_out": left_out,
              "names": {name: [len(pickled), needs] for name, (pickled, needs) in entries.items()}}
    return json.dumps(header).encode() + b"\n" + body + b"".join(pickled for pickled, _ in entries.values())


def load(payload: bytes, enters_script: bool = False,
         function_file: Optional[str] = None) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """In the task: the function and its arguments. Raises RuntimeError in words for the user.

    `enters_script`: this process has no other `__main__` to keep, and gets the one that the function is from. Where the payload
    is in `function_file`, so do processes that it starts and that inherit nothing.
    """
    header, body, names = _opened(payload)
    if header["pickled"] and header["python"] != list(sys.version_info[:2]):
        theirs, own = ".".join(map(str, header["python"])), ".".join(map(str, sys.version_info[:2]))
        raise RuntimeError(f"the function was pickled by Python {theirs}, and this task runs Python {own} "
                           f"({sys.executable}); use an environment or an image with Python {theirs}, or name the function as "
                           "'package.module:function'")
    enters_script = enters_script and header["script"] is not None
    if enters_script:
        _script.enter(header["script"], function_file)
    function: Any = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    if header["pickled"]:
        import pickle

        if enters_script:
            function, args, kwargs = _loaded(sys.modules["__main__"].__dict__, header, body, names)
        else:
            function, args, kwargs = pickle.loads(body)
    if header["target"] is not None:
        function = _resolve(header["target"])
    return function, args, kwargs


def load_into(main: dict[str, Any], payload: bytes) -> None:
    """In a process of the task: all that the function refers to by name, and the other names of its script."""
    header, body, names = _opened(payload)
    if header["pickled"]:
        _loaded(main, header, body, names)


def _loaded(main: dict[str, Any], header: Mapping[str, Any], body: bytes, pickled_names: bytes) -> Any:
    """What the script has pickled; `main` has the script's names afterwards, and `__getattr__` for those that come late."""
    from gangrun import _names_found  # which nobody else has a use for

    entries, start = {}, 0
    for name, (size, needs) in header["names"].items():
        entries[name] = (pickled_names[start:start + size], needs)
        start += size
    names = _names_found.Names(main, entries, header["left_out"])
    main["__getattr__"] = names.get
    value, made = _script.load(body, main)
    names.load_early(made)
    return value


def _opened(payload: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """Its header, what is pickled, and the names of the script, in a process that can unpickle them."""
    line, _, rest = payload.partition(b"\n")
    header: dict[str, Any] = json.loads(line)
    if header["format"] != FORMAT:
        raise RuntimeError(f"the function is in format {header['format']}, this gangrun reads {FORMAT}")
    # Shipped functions may import tf_yarn and the like, as the program does that shipped them.
    compat.answer_imports(installed_first=not header["answers"])
    return header, rest[:header["pickled"]], rest[header["pickled"]:]


def _resolve(target: str) -> Any:
    import importlib

    module, _, name = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
