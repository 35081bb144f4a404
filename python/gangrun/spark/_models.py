"""Saved models of TensorFlow, Keras and PyTorch as one kind of thing: arrays by name in, arrays by name out.

Nothing of a file is unpickled: a SavedModel and TorchScript are graphs that their runtime reads, `.keras` is loaded in Keras's safe
mode, and of a state_dict only tensors are read. A graph may still read and write files as the process may: take those that you trust.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import socket
import threading
import zipfile
from typing import Any, Callable, Mapping, Optional, Sequence

from gangrun.errors import InvalidJob

SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
KERAS = ".keras"
TORCH = (".pt", ".pth", ".ts", ".torchscript")
DEFAULT_SIGNATURE = "serving_default"

Shape = Optional[Sequence[Optional[int]]]  # with the batch's own; None: not known
Arrays = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which model: what all tasks of one `transform` agree about."""

    path: str
    signature: Optional[str] = None
    tags: Optional[str] = None
    factory: Optional[bytes] = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class Tensor:
    """What a model says of one of its inputs or outputs. A dtype is NumPy's name, "object" for texts, "" where it takes any."""

    dtype: str = ""
    shape: Shape = None
    is_needed: bool = True


@dataclasses.dataclass(frozen=True)
class Model:
    """`outputs` is None where it takes a call to know them."""

    what: str  # for errors
    inputs: Mapping[str, Tensor]
    outputs: Optional[Mapping[str, Tensor]]
    call: Callable[[Arrays], Arrays]


_lock = threading.Lock()
_kept: Optional[tuple[Any, Model]] = None


def kept(wanted: Wanted) -> Model:
    """The model, loaded once in this process; again where another one is wanted, or it was written again."""
    global _kept
    with _lock:
        key = wanted, _stamp(wanted.path)
        if _kept is None or _kept[0] != key:
            _kept = None  # two do not have to have room
            _kept = key, load(wanted)
        return _kept[1]


def _stamp(path: str) -> Any:
    """What changes when a model is written again; only where the path is one of this machine."""
    found = next((inner for name in SAVED_MODEL if os.path.exists(inner := os.path.join(path, name))), path)
    try:
        status = os.stat(found)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def load(wanted: Wanted) -> Model:
    path = wanted.path
    if "://" in path:
        return _saved_model(wanted)
    if os.path.isdir(path):
        if any(os.path.exists(os.path.join(path, name)) for name in SAVED_MODEL):
            return _saved_model(wanted)
        files = sorted(name for name in os.listdir(path) if name.endswith((KERAS, *TORCH)))
        if len(files) != 1:
            raise InvalidJob(f"export_dir: {path} has {', '.join(files) or 'no model'}; allowed: a SavedModel, or one file that ends with "
                             f"{', '.join((KERAS, *TORCH))}")
        path = os.path.join(path, files[0])
    if not os.path.exists(path):
        raise InvalidJob(f"export_dir: {path} is not there on {socket.gethostname()}; allowed: a path that all executors see")
    if path.endswith(KERAS):
        return _keras(path)
    if path.endswith(TORCH):
        return _torch(path, wanted.factory)
    raise InvalidJob(f"export_dir: {path} is not a model; allowed: the folder of a SavedModel, or a file that ends with "
                     f"{', '.join((KERAS, *TORCH))}")


def _saved_model(wanted: Wanted) -> Model:
    import tensorflow as tf

    tags = [tag.strip() for tag in wanted.tags.split(",")] if wanted.tags else None
    try:
        loaded = tf.saved_model.load(wanted.path, tags=tags)
    except (OSError, RuntimeError, ValueError, tf.errors.OpError) as error:
        which = f"tag_set: {wanted.tags!r} of {wanted.path}" if wanted.tags else f"export_dir: {wanted.path}"
        raise InvalidJob(f"{which} could not be loaded: {error}") from error
    key = wanted.signature or DEFAULT_SIGNATURE
    if key not in loaded.signatures:
        raise InvalidJob(f"signature_def_key: {wanted.path} has no signature {key!r}; it has "
                         f"{', '.join(sorted(loaded.signatures)) or 'none'}")
    function = loaded.signatures[key]
    specs = function.structured_input_signature[1]

    def call(arrays: Arrays) -> Arrays:
        found = function(**{name: tf.constant(array, specs[name].dtype) for name, array in arrays.items()})
        return {name: tensor.numpy() for name, tensor in found.items()}

    call.model = loaded  # type: ignore[attr-defined]  # its variables live as long as it does
    return Model(f"the signature {key!r} of {wanted.path}", {name: _of_spec(spec) for name, spec in specs.items()},
                 {name: _of_spec(spec) for name, spec in function.structured_outputs.items()}, call)


def _of_spec(spec: Any) -> Tensor:
    import numpy

    shape = None if spec.shape.rank is None else tuple(spec.shape.as_list())
    return Tensor(str(numpy.dtype(spec.dtype.as_numpy_dtype)), shape)


def _keras(path: str) -> Model:
    legacy = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    import importlib

    keras = importlib.import_module("tf_keras" if legacy else "keras")
    try:
        model = keras.models.load_model(path, compile=False, safe_mode=True)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidJob(f"export_dir: {path} could not be loaded by Keras {keras.__version__} in its safe mode: {error}") from error
    by_name = _by_name(model, "input")
    names = list(by_name or getattr(model, "input_names", None) or [tensor.name for tensor in model.inputs])
    inputs = _of_keras(names, list(by_name.values()) or model.inputs)
    named_outputs = _by_name(model, "output")
    results = list(named_outputs or getattr(model, "output_names", None) or [f"output_{number}" for number in range(len(model.outputs))])
    run = _runner(keras, model, inputs, bool(by_name))

    def call(arrays: Arrays) -> Arrays:
        listed = [arrays[name] for name in names]
        found = run(arrays if by_name else listed if len(listed) > 1 else listed[0])
        if isinstance(found, Mapping):
            return dict(found)
        return dict(zip(results, found if isinstance(found, (list, tuple)) else [found]))

    return Model(path, inputs, _of_keras(results, list(named_outputs.values()) or model.outputs), call)


def _by_name(model: Any, side: str) -> dict[str, Any]:
    """The sides of a model that was made with a dict of inputs or outputs."""
    try:
        found = getattr(model, side)
    except AttributeError:  # a Sequential of Keras 3 has them only as a list
        return {}
    return dict(found) if isinstance(found, Mapping) else {}


def _of_keras(names: Sequence[str], tensors: Sequence[Any]) -> dict[str, Tensor]:
    return {name: Tensor(_dtype_name(tensor.dtype), tuple(tensor.shape)) for name, tensor in zip(names, tensors)}


def _dtype_name(dtype: Any) -> str:
    name = getattr(dtype, "name", None) or str(dtype)
    return "object" if name == "string" else str(name)


def _runner(keras: Any, model: Any, inputs: Mapping[str, Tensor], named: bool) -> Callable[[Any], Any]:
    """Where TensorFlow is behind Keras, a graph of it, which costs a tenth of `predict_on_batch`."""
    if keras.backend.backend() != "tensorflow":
        return lambda given: model.predict_on_batch(given)
    import tensorflow as tf

    specs: Any = {name: tf.TensorSpec(tensor.shape, tf.string if tensor.dtype == "object" else tensor.dtype)
                  for name, tensor in inputs.items()}
    if not named:
        specs = list(specs.values()) if len(specs) > 1 else next(iter(specs.values()))
    graph = tf.function(lambda given: model(given, training=False), input_signature=[specs])

    def run(given: Any) -> Any:
        found = graph(tf.nest.map_structure(lambda array, spec: tf.constant(array, spec.dtype), given, specs))
        return tf.nest.map_structure(lambda tensor: tensor.numpy(), found)

    return run


def _torch(path: str, factory: Optional[bytes]) -> Model:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if factory is None:
        if not _is_script(path):
            raise InvalidJob(f"export_dir: {path} is not TorchScript (torch.jit.save), and nothing else is loaded as it is: for a state_dict "
                             "give TFModel a model_factory, a function that makes the module")
        module = torch.jit.load(path, map_location=device)
        arguments = {argument.name: not argument.has_default_value() for argument in module.forward.schema.arguments[1:]}
    else:
        from gangrun import _function

        make, args, kwargs = _function.load(factory)
        module = make(*args, **kwargs)
        try:
            module.load_state_dict(torch.load(path, map_location=device, weights_only=True))
        except Exception as error:  # what its unpickler refuses has no class of its own in all releases
            raise InvalidJob(f"export_dir: {path} is not a state_dict of the module of model_factory, a {type(module).__name__}: "
                             f"{error}") from error
        module = module.to(device)
        arguments = {name: parameter.default is parameter.empty
                     for name, parameter in inspect.signature(module.forward).parameters.items()
                     if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)}
    module.eval()
    return Model(path, {name: Tensor("", None, is_needed) for name, is_needed in arguments.items()}, None, _torch_call(module, device))


def _is_script(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any("/code/" in name for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def _torch_call(module: Any, device: str) -> Callable[[Arrays], Arrays]:
    import torch

    # Spark's numbers are doubles more often than a module's are.
    floating = next((parameter.dtype for parameter in module.parameters() if parameter.is_floating_point()), torch.get_default_dtype())

    def tensor(array: Any) -> Any:
        made = torch.from_numpy(array if array.flags.writeable else array.copy())
        return made.to(device, floating) if made.is_floating_point() else made.to(device)

    def call(arrays: Arrays) -> Arrays:
        with torch.no_grad():
            found = module(**{name: tensor(array) for name, array in arrays.items()})
        if isinstance(found, torch.Tensor):
            found = {"output": found}
        elif not isinstance(found, Mapping):
            found = {f"output_{number}": value for number, value in enumerate(found)}
        return {name: value.cpu().numpy() for name, value in found.items()}

    return call
