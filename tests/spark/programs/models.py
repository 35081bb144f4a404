"""What saved models of each framework make of Arrow's batches: run by the Python of Spark, without Spark.  models.py FOLDER CHECK...
prints JSON."""

import json
import os
import pathlib
import sys

import pyarrow

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

from gangrun.errors import InvalidJob  # noqa: E402
from gangrun.spark import _models, _payload, _transform  # noqa: E402

SCHEMA = json.dumps({"fields": []})
FOLDER = pathlib.Path(sys.argv[1])


def work(path, inputs, outputs=None, factory=None, batch_size=100, **keys):
    made = _payload.function_bytes(factory, (), {}, {}) if factory else None
    return _transform.Work(_models.Wanted(str(path), factory=made, **keys), tuple(sorted(inputs.items())),
                           tuple(sorted((outputs or {}).items())), batch_size, SCHEMA)


def plain(value):
    return value.decode() if isinstance(value, bytes) else [plain(one) for one in value] if isinstance(value, list) else value


def answer(asked, batches, with_row):
    (told,) = _transform.Describe(asked, with_row)(batches)
    return json.loads(told.column(0)[0].as_py())


def use(path, columns, inputs, outputs=None, **keys):
    """[columns and types as the driver is told them, rows], or what is wrong, by the way that the driver goes."""
    batch = pyarrow.RecordBatch.from_pydict(columns)
    try:
        asked = work(path, inputs, outputs, **keys)
        told = answer(asked, [], False)
        if told.get("outputs", 0) is None:
            told = answer(asked, [batch], True)
        if "error" in told:
            return told["error"]
        asked = work(path, inputs, outputs or {name: name for name, _ in told["outputs"]}, **keys)
        (made,) = _transform.Apply(asked)([batch.slice(0, 0), batch])
    except (InvalidJob, RuntimeError) as error:
        return str(error)
    types = [str(kind).replace("item: ", "") for kind in made.schema.types]
    return [told["outputs"], types, [plain(list(row.values())) for row in made.to_pylist()]]


def saved(name="saved"):
    """A SavedModel with two signatures, and outputs of every kind."""
    import tensorflow as tf

    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec((None, 2), tf.float32, "x")])
        def numbers(self, x):
            return {"by": x * self.factor, "sum": tf.reduce_sum(x, 1) * self.factor, "square": tf.reshape(x, (-1, 2, 1)),
                    "whole": tf.cast(x[:, 0], tf.int32), "is": x[:, 0] > 0, "text": tf.strings.as_string(x[:, 0], precision=1)}

        @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, "words"), tf.TensorSpec((None, 1, 2), tf.int64, "pairs")])
        def words(self, words, pairs):
            return {"joined": tf.strings.join([words, words]), "added": tf.reduce_sum(pairs, [1, 2]), "short": pairs[:1, 0, 0],
                    "many": tf.complex(1.0, 1.0) * tf.ones_like(words == "", tf.complex64)}

    made = Scale()
    tf.saved_model.save(made, str(FOLDER / name), {"serving_default": made.numbers, "words": made.words})
    return FOLDER / name


def saved_model():
    path = saved()
    x, words = {"x": [[1.0, 2.5], [-1.0, 0.0], [3.0, 0.0]]}, {"w": ["a", "b"], "p": [[1, 2], [3, 4]]}
    both = {"w": "words", "p": "pairs"}
    outputs = {name: f"o_{name}" for name in ("by", "sum", "square", "whole", "is", "text")}
    return {
        "all": use(path, x, {"x": "x"}, outputs, batch_size=2), "unnamed": use(path, {"x": [[1, 2]]}, {"x": "x"})[0],
        "words": use(path, words, both, {"joined": "j", "added": "a"}, signature="words", tags="serve"),
        "sizes": use(path, words, both, {"short": "s"}, signature="words"), "complex": use(path, words, both, {"many": "m"}, signature="words"),
        "no tensor": use(path, x, {"x": "z"}), "no column": use(path, {"w": ["a"]}, {"w": "words"}, {"added": "a"}, signature="words"),
        "no output": use(path, x, {"x": "x"}, {"nothing": "n"}), "no signature": use(path, x, {"x": "x"}, signature="mine"),
        "no tags": use(path, x, {"x": "x"}, tags="gpu"), "no model": use(FOLDER / "nowhere", x, {"x": "x"}),
        "empty folder": use(FOLDER, x, {"x": "x"}), "shape": use(path, {"y": [1.0]}, {"y": "x"}), "ragged": use(path, {"x": [[1.0], [1.0, 2.0]]}, {"x": "x"}),
        "nulls": use(path, {"x": [None, [1.0, 2.0]]}, {"x": "x"}), "text": use(path, {"x": ["a"]}, {"x": "x"}),
        "twice": use(path, {"x": [[1.0, 1.0]], "y": [1.0]}, {"x": "x", "y": "x"}),
        "struct": use(path, {"x": pyarrow.array([{"a": 1}])}, {"x": "x"}),
        "null number": use(path, {"w": ["a", "b"], "p": [[1, None], [3, 4]]}, both, {"added": "a"}, signature="words")}


def keras_files():
    """Of the Keras that is there: one input and output, several, by dicts, and what its safe mode refuses."""
    import keras
    ones = {"kernel_initializer": "ones", "use_bias": False}
    a, b = keras.Input((2,), name="a"), keras.Input((1,), name="b")
    joined = keras.layers.Concatenate()([a, b])
    total, both = keras.layers.Dense(1, name="sum", **ones)(joined), keras.layers.Dense(2, name="both", **ones)(joined)
    made = {"two": keras.Model([a, b], [total, both]), "dicts": keras.Model({"a": a, "b": b}, {"first": total, "second": both}),
            "one": keras.Sequential([keras.layers.Input((2,), name="x"), keras.layers.Dense(1, name="sum", **ones)]),
            "code": keras.Sequential([keras.layers.Input((2,), name="x"), keras.layers.Lambda(lambda x: x * 2)])}
    for name, model in made.items():
        model.save(str(FOLDER / f"{name}.keras"))
    columns, one = {"x": [[1, 2], [4, 5]], "y": [3.0, 6.0]}, _models.load(_models.Wanted(str(FOLDER / "one.keras")))
    (only,) = one.inputs
    return {"keras": keras.__version__, "two": use(FOLDER / "two.keras", columns, {"x": "a", "y": "b"}, batch_size=1),
            "dicts": use(FOLDER / "dicts.keras", columns, {"x": "a", "y": "b"}, {"second": "t"}),
            "one": use(FOLDER / "one.keras", columns, {"x": only}), "code": use(FOLDER / "code.keras", columns, {"x": "x"})}


class Evil:
    """What a pickle may do to who reads it."""

    def __reduce__(self):
        return os.mkdir, (str(FOLDER / "it was read"),)


def torch_files():
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x, shift: float = 0.0):
            return self.layer(x), x.sum(1)

    net = Net()
    with torch.no_grad():
        net.layer.weight[:] = torch.tensor([[1.0, 2.0]])
        net.layer.bias[:] = 0.5
    (FOLDER / "script").mkdir()
    torch.jit.script(net).save(str(FOLDER / "script/model.pt"))
    torch.save(net.state_dict(), FOLDER / "state.pth")
    torch.save({"layer.weight": Evil()}, FOLDER / "evil.pth")
    columns, outputs = {"x": [[1.0, 1.0], [2.0, 0.0]]}, {"output_0": "told", "output_1": "sum"}
    return {"script": use(FOLDER / "script", columns, {"x": "x"}, outputs, batch_size=1),
            "state": use(FOLDER / "state.pth", columns, {"x": "x"}, outputs, factory=Net),
            "no factory": use(FOLDER / "state.pth", columns, {"x": "x"}, outputs),
            "evil": [use(FOLDER / "evil.pth", columns, {"x": "x"}, outputs, factory=factory) for factory in (None, Net)],
            "read": (FOLDER / "it was read").exists(), "no tensor": use(FOLDER / "script", columns, {"x": "y"}, outputs),
            "no output": use(FOLDER / "script", columns, {"x": "x"}, {"output_7": "told"})}


def params():
    """Names, defaults, setters and getters, and how arguments and params become one."""
    import argparse

    from gangrun.tensorflowonspark import pipeline
    found = {}
    for made in (pipeline.TFEstimator(len, {"own": 1, "epochs": 9}), pipeline.TFModel(argparse.Namespace(own=1))):
        kind = type(made).__name__
        found[kind] = {param.name: made.getOrDefault(param) for param in made.params}
        methods = sorted(name[3:] for name in dir(made) if name.startswith("set") and name[3:4].isupper() and hasattr(made, "get" + name[3:]))
        found[kind + " methods"] = [name for name in methods if name != "Params"]
        found[kind + " merged"] = vars(made.merge_args_params())["own"]
    estimator = pipeline.TFEstimator(len, {"own": 1, "epochs": 9}).setEpochs(4)
    found["merged"] = [estimator.merge_args_params().epochs, estimator.args.epochs, estimator.copy({estimator.epochs: 5}).getEpochs()]
    words = pipeline.Namespace(["--a", "b"])
    found["words"] = [words == ["--a", "b"], list(words), str(words), "own" in pipeline.Namespace({"own": 1})]
    found["same"] = [pipeline.Namespace({"a": 1}) == pipeline.Namespace(argparse.Namespace(a=1)), pipeline.Namespace({"a": 1}) == 3]
    for name, call in (("mode", lambda: estimator.setInputMode(0)), ("mapping", lambda: estimator.setInputMapping([1])),
                       ("arguments", lambda: pipeline.TFModel(7))):
        try:
            call()
        except Exception as error:
            found[name] = str(error)
    return found


def exports():
    """compat's own functions, in either TensorFlow."""
    import tensorflow as tf

    from gangrun.tensorflowonspark import compat
    model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)])
    compat.export_saved_model(model, str(FOLDER / "exported"), True)
    compat.export_saved_model(model, str(FOLDER / "not exported"))
    options = tf.data.Options()
    compat.disable_auto_shard(options)
    path = FOLDER / "exported"
    (name,) = _models.load(_models.Wanted(str(path))).inputs
    return {"told": use(path, {"x": [[1, 2]]}, {"x": name})[2], "others": (FOLDER / "not exported").exists(),
            "policy": options.experimental_distribute.auto_shard_policy.name, "gpu": compat.is_gpu_available()}


if __name__ == "__main__":
    print("\n" + json.dumps({name: globals()[name]() for name in sys.argv[2:]}), flush=True)
